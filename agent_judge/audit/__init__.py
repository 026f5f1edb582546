"""Planted edits with known levels."""
