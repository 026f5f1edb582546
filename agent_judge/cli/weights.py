"""`agent-judge weights`: the networks that can be fetched, and where they lie."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None)
Name = Annotated[str, typer.Argument(help="A name out of `agent-judge weights list`.")]


@app.callback()
def _group() -> None:
    """List, fetch and find weights of grounding and enhance."""


@app.command("list")
def list_() -> None:
    """List the known weights: licence, size, origin, checksums and whether they are here."""
    from agent_judge.tools.weights import KNOWN, cache_folder, state_of

    for weights in KNOWN:
        size_mb = sum(file.size_bytes for file in weights.files) / 1e6
        states = sorted({state_of(file, cache_folder()) for file in weights.files})
        print(f"{weights.name}: {weights.what}")
        print(f"  {size_mb:,.1f} MB, {weights.licence}, {weights.origin}; {', '.join(states)}")
        for file in weights.files:
            print(f"  {file.name}: {file.size_bytes:,} bytes, sha256 {file.sha256}")
        print(f'  use: {weights.setting} = "{weights.name}"')
    print(f"They lie in {cache_folder()}. enhance needs none: its weights come with the package.")


@app.command("fetch")
def fetch_(name: Name) -> None:
    """Fetch weights over the network into the cache and check them."""
    from agent_judge.tools.weights import cache_folder, fetch, known

    def tell(come: int, expected: int) -> None:
        if sys.stderr.isatty():
            end = "" if come < expected else "\n"
            print(f"\r{come / 1e6:,.1f} of {expected / 1e6:,.1f} MB", end=end, file=sys.stderr)

    for path in fetch(known(name), cache_folder(), tell):
        print(path)


@app.command("path")
def path(name: Name) -> None:
    """Print where the files of the weights lie, once each is checked."""
    from agent_judge.tools.weights import cache_folder, checked_files, known

    for file in checked_files(known(name), cache_folder()):
        print(file)
