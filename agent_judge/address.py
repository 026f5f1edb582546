"""Addresses of endpoints as they may be shown."""

from __future__ import annotations

import re


def shown_address(base_url: str) -> str:
    """An address without user and password; empty where it is none, and may be a key.

    Example:
        >>> shown_address("https://me:secret@host/v1"), shown_address("sk-secret")
        ('https://host/v1', '')
    """
    return re.sub("://.*@", "://", base_url) if "://" in base_url else ""
