"""How a criterion comes to its level: by conversations, differences or measurement."""
