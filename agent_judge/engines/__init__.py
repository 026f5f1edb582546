"""Where samples are judged: in this process, or by workers of a Ray cluster."""
