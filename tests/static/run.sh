#!/usr/bin/env bash
# Builds the static `gyre` and tests that it runs without any file of a system, and on an old kernel.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

./gyre build static
export GYRE_BIN_DIR=$PWD/build/static/bin GYRE_BACKEND=auto
size=$(stat -c %s "$GYRE_BIN_DIR/gyre")
[ "$size" -lt $((12 * 1024 * 1024)) ] || { echo "the static gyre has $size bytes: more than 12 MiB"; exit 1; }
echo "$size bytes"
export PYTHONPATH=tests/programs
python3 tests/static/scratch_test.py
python3 tests/static/wheel_test.py
python3 tests/programs/old_kernel_test.py
