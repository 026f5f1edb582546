"""Tables in the terminal: a console for text from data, and figures with their intervals."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.table import Table

from agent_judge.cli.terminal import shown
from agent_judge.stats.intervals import Estimate

_WIDTH_OF_FILES = 120


class _Console(Console):
    """rich's own would end the program with exit code 1 and without a word."""

    def on_broken_pipe(self) -> None:
        raise  # it is called while the error is handled


def table_console(*, stderr: bool = False) -> Console:
    """A console that takes text as it is (`[/x]` and `:x:` too), wide where it is no terminal."""
    width = None if (sys.stderr if stderr else sys.stdout).isatty() else _WIDTH_OF_FILES
    return _Console(highlight=False, markup=False, emoji=False, width=width, stderr=stderr)


def plain_table(*heads: str, title: str | None = None) -> Table:
    """A table without lines; the first column is text, the others are figures."""
    table = Table(box=None, pad_edge=False, header_style="bold", title=title, title_justify="left")
    for number, head in enumerate(heads):
        table.add_column(shown(head), justify="right" if number else "left", vertical="top")
    return table


def figure(value: float | None, digits: int = 2) -> str:
    """A figure, or a dash where there is none."""
    return "-" if value is None else f"{value:.{digits}f}"


def with_interval(estimate: Estimate, digits: int = 2, *, between: str = " ") -> str:
    """A figure with its 95 % interval where it has one.

    Example:
        >>> with_interval(Estimate(value=0.5, low=0.25, high=0.75))
        '0.50 [0.25, 0.75]'
    """
    value = figure(estimate.value, digits)
    if estimate.low is None or estimate.high is None:
        return value
    return f"{value}{between}[{estimate.low:.{digits}f}, {estimate.high:.{digits}f}]"
