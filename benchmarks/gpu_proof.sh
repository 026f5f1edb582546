#!/bin/sh
# Proves the networks on a GPU and measures them: the gpu-marked tests, then the tools. Wants the
# environment of `make test`, or PYTHON; meant to take under 8 minutes on one GPU.
#   benchmarks/gpu_proof.sh [TABLE.md]
# Writes the table that docs/benchmarks.md asks for, also where a test failed.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-.venv/bin/python}
table=${1:-gpu-table.md}
"$python" - <<'END'
import sys
from importlib.util import find_spec

from agent_judge.errors import InputError
from agent_judge.tools.loaded import device_for

missing = [name for name in ("torch", "groundingdino", "realesrgan", "pytest") if not find_spec(name)]
if missing:  # without them the tests would be skipped, and that looks like a proof
    sys.exit(f"{', '.join(missing)} cannot be imported: make test installs all that is needed")
try:
    device_for("cuda")
except InputError as err:
    sys.exit(str(err))
END
failed=0
"$python" -m pytest -q -m gpu tests/tools || failed=$?
"$python" benchmarks/tools.py --device cuda --detector random --seconds 5 --out "$table"
exit "$failed"
