"""Importers, one file per foreign layout."""
