"""Settings and fixtures that all tests share."""

import pytest
from hypothesis import settings

from tests.browser import chromium

# The same examples each time, and no clock: machines of a CI are noisy.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")


@pytest.fixture(scope="session")
def browser():
    """One headless Chromium for all tests of pages."""
    with chromium() as running:
        yield running
