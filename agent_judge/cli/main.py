"""The entry point `agent-judge`: finds the verb, loads its file, turns errors into exit codes.

Each verb lives in a file of its own that is imported only when the verb is called: `--help` answers
at once, and no verb pays for another's libraries.
"""

from __future__ import annotations

import functools
import importlib
import logging
import re
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from agent_judge.cli.interrupts import INTERRUPTED, Interrupts
from agent_judge.cli.streams import give_up_stdout, is_full, ready_streams
from agent_judge.cli.terminal import shown_lines
from agent_judge.errors import AgentJudgeError, InputError, RunStopped

INTERNAL, USAGE, STOPPED, BROKEN_PIPE = 1, 2, 3, 141
LOG_LEVELS = ("debug", "info", "warning", "error")
_LOG_FLAG = "--log-level"


@dataclass(frozen=True)
class Verb:
    """Where a verb is found."""

    module: str
    """Module under `agent_judge.cli`."""
    attribute: str
    """The function in it, or the `typer.Typer` of a verb that has verbs of its own."""
    help: str
    """Its line in `agent-judge --help`."""


VERBS: Mapping[str, Verb] = {
    "run": Verb("run", "run", "Judge a manifest into a run folder, or resume one."),
    "validate": Verb("validate", "validate", "Check a manifest and its pictures; judge nothing."),
    "import": Verb("import_", "app", "Make a manifest from files that lie in another layout."),
    "estimate": Verb("estimate", "estimate", "Tokens and dollars of a run, before it is sent."),
    "show": Verb("show", "show", "Show the verdicts on one row with their evidence."),
    "export": Verb("export", "export", "Write every record as JSONL, CSV or Parquet."),
    "rescore": Verb("rescore", "rescore", "Read a run's saved replies again, offline."),
    "agree": Verb("agree", "agree", "Compare a judge's levels with people's."),
    "compare": Verb("compare", "compare", "Compare two runs item by item."),
    "annotate": Verb("annotate", "annotate", "Rate edits by hand, on a page of this machine."),
    "audit": Verb("audit", "audit", "Let a judge sit an exam of planted edits; its judge card."),
    "merge": Verb("merge", "merge", "Merge the run folders of several shards."),
    "report": Verb("report", "report", "Write a report that opens in a browser."),
    "tool": Verb("tool", "app", "Call one of the judge's visual tools by hand."),
    "weights": Verb("weights", "app", "List, fetch and find the detector's weights."),
    "doctor": Verb("doctor", "doctor", "Check this installation."),
}


class _Verbs(TyperGroup):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 - its class moved between typer's versions
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401
        return _load(cmd_name) if cmd_name in VERBS else None

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """List the verbs from the table: asking the commands would import all of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, verb.help) for name, verb in VERBS.items()])

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:  # the reader (`| head`) has seen enough
            give_up_stdout()
            raise typer.Exit(BROKEN_PIPE) from None
        return result


_app = typer.Typer(
    cls=_Verbs,
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    epilog="Every command takes --log-level debug|info|warning|error. Manual: docs/cli.md.",
)


def _load(name: str) -> Any:  # noqa: ANN401
    verb = VERBS[name]
    found = getattr(importlib.import_module(f"agent_judge.cli.{verb.module}"), verb.attribute)
    app = found
    if not isinstance(found, typer.Typer):
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(name)(found)
    for command in app.registered_commands:
        command.callback = _on_this_machine(command.callback)
    return typer.main.get_command(app)


def _on_this_machine(verb: Any) -> Any:  # noqa: ANN401 - a function with the verb's parameters
    """The verb, refusing URLs where it reads none: `s3://a` would be a folder named `s3:`."""

    @functools.wraps(verb)
    def checked(**given: Any) -> None:  # noqa: ANN401
        for value in given.values():
            for path in value if isinstance(value, list) else [value]:
                if isinstance(path, Path) and (found := re.match(r"(\w+):/+(.*)", str(path))):
                    url = f"{found[1]}://{found[2]}"
                    raise InputError(
                        f"{url!r:.200}: expected a path of this machine. URLs are taken by run, "
                        "validate and estimate (manifest, --root) and by export (-o)"
                    )
        verb(**given)

    return checked


def _print_version(asked: bool) -> None:
    if asked:
        print(f"agent-judge {metadata.version('agent-judge')}")
        raise typer.Exit


@_app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print it.")
    ] = False,
) -> None:
    """Judge small edits: did an editing model do as told, and leave the rest alone?"""


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line and exit with the code that docs/cli.md lists."""
    ready_streams()
    interrupts = Interrupts()
    sys.exit(_run(list(sys.argv[1:] if argv is None else argv), interrupts))


def _run(argv: list[str], interrupts: Interrupts) -> int:
    try:
        level = _take_log_level(argv)
    except InputError as err:
        return _tell(str(err), USAGE)
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("agent_judge").setLevel(level.upper())
    try:
        typer.main.get_command(_app).main(args=argv, prog_name="agent-judge")
    except AgentJudgeError as err:  # what a verb lets through is the user's to mend
        _trace(level)
        return _tell(str(err), STOPPED if isinstance(err, RunStopped) else USAGE)
    except Exception as err:
        if interrupts.came:
            return INTERRUPTED
        _trace(level)
        if isinstance(err, OSError) and err.filename is not None:  # of a file that the user named
            return _tell(f"{str(err.filename)!r}: {err.strerror}", USAGE)
        if is_full(err):
            give_up_stdout()
            return _tell(f"the output cannot be written: {err.strerror}", USAGE)
        if isinstance(err, ImportError) and (remedy := _remedy(err)):
            return _tell(remedy, USAGE)
        what = " ".join(f"{type(err).__name__}: {err}".split())
        return _tell(f"internal fault: {what} (traceback: {_LOG_FLAG} debug)", INTERNAL)
    return 0


def _take_log_level(argv: list[str]) -> str:
    """The log level of the command line, taken out of it: it may stand before or after the verb."""
    for i, word in enumerate(argv):
        flag, equals, value = word.partition("=")
        if word == "--":
            break
        if flag == _LOG_FLAG:
            taken = argv[i : i + 1] if equals else argv[i : i + 2]
            del argv[i : i + len(taken)]
            level = (value if equals else "".join(taken[1:])).lower()
            if level not in LOG_LEVELS:
                raise InputError(f"{_LOG_FLAG} {level!r}: expected {', '.join(LOG_LEVELS)}")
            return level
    return "warning"


def _remedy(err: ImportError) -> str | None:
    from agent_judge.installation import missing_library

    return missing_library(err)


def _tell(message: str, code: int) -> int:
    with suppress(OSError):  # nobody reads it: the exit code tells
        print(f"agent-judge: {shown_lines(message)}", file=sys.stderr)
    return code


def _trace(level: str) -> None:
    if level == "debug":
        traceback.print_exc()
