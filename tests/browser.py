"""Headless Chromium for tests of pages: Debian's, driven by playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium")
_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
DESKTOP, PHONE = (1280, 900), (400, 800)
"""Width and height of windows, in CSS pixels."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser with a profile of its own; skips where Chromium or playwright is missing."""
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("needs Chromium: on Debian apt-get install chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=_FLAGS)
        yield browser
        browser.close()


@contextmanager
def open_page(
    browser: Browser, url: str, *, size_wh: tuple[int, int] = DESKTOP, dark: bool = False
) -> Iterator[Page]:
    """A page in a window of its own that must raise no error and ask no other host."""
    faults: list[str] = []
    home = urlsplit(url)
    context = browser.new_context(
        viewport={"width": size_wh[0], "height": size_wh[1]},
        color_scheme="dark" if dark else "light",
    )
    page = context.new_page()
    page.on("pageerror", lambda error: faults.append(f"error: {error}"))

    def note(address: str) -> None:
        there = urlsplit(address)
        if there.scheme not in ("data", "blob") and there[:2] != home[:2]:
            faults.append(f"asked {address}")

    page.on("request", lambda request: note(request.url))
    page.goto(url)
    yield page
    context.close()
    assert not faults
