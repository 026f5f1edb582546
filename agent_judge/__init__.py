"""Judge small edits."""
