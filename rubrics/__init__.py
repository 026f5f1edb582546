"""What levels mean: the ladders and prompt texts as data."""
