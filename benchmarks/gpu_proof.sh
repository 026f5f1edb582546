#!/bin/sh
# Proves the networks on a GPU and measures them: the gpu-marked tests, then the tools.
#   benchmarks/gpu_proof.sh [TABLE.md]
# Writes the table that docs/benchmarks.md asks for; meant to take under 8 minutes on one GPU.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-python}
table=${1:-gpu-table.md}
"$python" -m pytest -q -m "gpu" tests/tools
"$python" benchmarks/tools.py --device cuda --detector random --seconds 5 --out "$table"
