"""What the judge looks with."""
