"""A loopback OpenAI-compatible endpoint, for our tests and for users' CI."""
