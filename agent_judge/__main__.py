"""`python -m agent_judge`: the command line without its script on the PATH."""

from agent_judge.cli.main import main

if __name__ == "__main__":
    main()
