"""Call the program in this process."""

import pytest

from agent_judge.cli.main import main


def call(*args: object) -> int:
    """The exit code of `agent-judge ARGS`."""
    with pytest.raises(SystemExit) as end:
        main([str(arg) for arg in args])
    assert isinstance(end.value.code, int)
    return end.value.code
