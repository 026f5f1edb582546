"""`python -m agent_judge.cli`: the same program as `agent-judge`."""

from agent_judge.cli.main import main

main()
