"""Settings that all tests share."""

from hypothesis import settings

# The same examples each time, and no clock: machines of a CI are noisy.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")
