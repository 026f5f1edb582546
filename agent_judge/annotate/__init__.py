"""People rate edits by the judge's own ladder, on a page that this machine serves to itself."""
