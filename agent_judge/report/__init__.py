"""HTML and exports."""
