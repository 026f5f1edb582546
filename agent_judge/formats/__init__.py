"""Importers: one file per foreign layout, each gives samples and says what it left out."""
