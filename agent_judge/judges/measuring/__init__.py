"""How the embedded judge measures: pictures laid over each other, and what differs in them."""
