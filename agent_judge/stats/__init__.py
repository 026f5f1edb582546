"""Pure functions on records: coverage, agreement, comparison, diagnosis."""
