#!/usr/bin/env bash
# Fuzzes each target for so many seconds (20): tests/fuzz/run.sh [SECONDS]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

seconds=${1:-20}
out=build/fuzz
mkdir -p "$out"
for source in tests/fuzz/*_fuzz.cpp; do
  name=$(basename "$source" _fuzz.cpp)
  clang++-19 -std=c++23 -O1 -g -Iinclude -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
    "$source" src/http/*.cpp -o "$out/$name"
  mkdir -p "$out/corpus/$name"
  # A finding is left beside the corpus, and goes into a test.
  "$out/$name" -max_total_time="$seconds" -max_len=4096 -verbosity=0 -print_final_stats=1 \
    -artifact_prefix="$out/$name-" "$out/corpus/$name" "tests/fuzz/seeds/$name" 2>&1 | grep -E "executed_units|ERROR|difference" ||
    { echo "fuzz: $name failed, see $out" >&2; exit 1; }
done
