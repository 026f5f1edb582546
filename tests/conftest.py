"""Settings and fixtures that all tests share."""

import signal

import pytest
from hypothesis import settings

from tests.browser import chromium
from tests.networks import clip, grounding_dino, sam, sam2, torch  # noqa: F401 - fixtures

# A CI may start the tests with Ctrl-C ignored, and every program that they start would inherit it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples each time, and no clock: machines of a CI are noisy.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("quick", settings.get_profile("steady"), max_examples=20)
settings.load_profile("steady")


@pytest.fixture(scope="module")
def browser():
    """One headless Chromium for a module's tests of pages.

    No longer: while playwright's synchronous driver is up, the thread has a running event loop,
    and whatever calls `asyncio.run` after it fails.
    """
    with chromium() as running:
        yield running
