#!/usr/bin/env bash
# Reports which lines and branches of src/ and programs/gyre/ the tests run, on both backends: a line for each file, and
# the total.
#
#   tools/coverage.sh [BUILD_DIRECTORY]      default: build/coverage
#
# Needs clang++-19, llvm-profdata-19 and llvm-cov-19; other versions by CXX, LLVM_PROFDATA and LLVM_COV.
#   GYRE_COVERAGE_TESTS="io net"  only the tests of these layers; "programs" stands for those of the command gyre
#   GYRE_COVERAGE_HTML=DIRECTORY  the sources, too, with what was never run
#   GYRE_COVERAGE_LIMIT=SECONDS   for each test program on each backend (900); one that hangs counts as failed
# What the programs have printed is in BUILD_DIRECTORY/logs. Exits with 1 when one has failed, behind the table.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=${1:-build/coverage}
compiler=${CXX:-clang++-19}
profdata=${LLVM_PROFDATA:-llvm-profdata-19}
cov=${LLVM_COV:-llvm-cov-19}
all="coro io contract loop tasks runtime sync stream net fs process http tls client interop interop_boost faults load"
all+=" encryption programs"
layers=${GYRE_COVERAGE_TESTS:-$all}

# Continuous mode (%c) keeps the counters in a mapped file: many tests run their subject in a child that ends with
# _exit, or that is meant to abort. Otherwise nothing would be left of those.
flags="-fprofile-instr-generate -fcoverage-mapping -mllvm -runtime-counter-relocation=true"
flags+=" -Wno-unused-command-line-argument"
cmake -S . -B "$build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  "-DCMAKE_CXX_FLAGS=$flags" "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1 -DNDEBUG" \
  -DGYRE_BUILD_BENCH=OFF -DGYRE_UNITY_BUILD=ON >/dev/null

built() { cmake --build "$build" --target help | grep "^$1: phony" >/dev/null; }  # with -q, cmake may fail to write
targets=()
programs=()
for layer in $layers; do
  if [ "$layer" = programs ]; then
    targets+=(gyre_command)
  elif built "gyre_${layer}_test"; then # those of interop/ only where Asio is installed
    targets+=("gyre_${layer}_test")
    programs+=("$build/bin/gyre_${layer}_test")
  fi
done
cmake --build "$build" --target "${targets[@]}" -- --quiet

profiles=$build/profiles
logs=$build/logs
limit=${GYRE_COVERAGE_LIMIT:-900}
rm -rf "$profiles" "$logs"
mkdir -p "$profiles" "$logs"
export LLVM_PROFILE_FILE=$PWD/$profiles/%m_%p%c.profraw
case $build in /*) LLVM_PROFILE_FILE=$profiles/%m_%p%c.profraw ;; esac
failed=()
run_all() {
  local name script
  for name in "${programs[@]}"; do
    GYRE_BACKEND=$1 timeout "$limit" "$name" --gtest_brief=1 >"$logs/${name##*/}.$1" 2>&1 ||
      failed+=("${name##*/} ($1), see $logs/${name##*/}.$1")
  done
  case " $layers " in *" programs "*) ;; *) return 0 ;; esac
  for script in tests/programs/{doctor,serve_*,fetch*,load*,proxy*}_test.py; do
    name=${script##*/}
    GYRE_BACKEND=$1 GYRE_BIN_DIR=$(realpath "$build/bin") timeout "$limit" python3 "$script" >"$logs/$name.$1" 2>&1 ||
      failed+=("$name ($1), see $logs/$name.$1")
  done
}
run_all io_uring
run_all epoll

# A program whose files may not grow, as in a test of full disks, leaves a profile that cannot be read.
"$profdata" merge -sparse -failure-mode=all "$profiles"/*.profraw -o "$build/all.profdata"
case " $layers " in *" programs "*) programs+=("$build/bin/gyre") ;; esac
objects=("${programs[0]}")
for name in "${programs[@]:1}"; do objects+=(-object "$name"); done
filter=(-instr-profile="$build/all.profdata" src programs/gyre)
if [ -n "${GYRE_COVERAGE_HTML:-}" ]; then
  "$cov" show "${objects[@]}" "${filter[@]}" -format=html -output-dir="$GYRE_COVERAGE_HTML" -show-branches=count \
    2>/dev/null
fi
"$cov" export "${objects[@]}" "${filter[@]}" -summary-only 2>/dev/null | python3 -c '
import json, os, sys
data = json.load(sys.stdin)["data"][0]
here = os.getcwd() + "/"
def shown(name, summary):
    lines, branches = summary["lines"], summary["branches"]
    print("%-44s %6.1f %% %9s  %6.1f %% %9s" % (
        name, lines["percent"], "%d/%d" % (lines["covered"], lines["count"]),
        branches["percent"] if branches["count"] else 100, "%d/%d" % (branches["covered"], branches["count"])))
print("%-44s %18s  %18s" % ("", "lines", "branches"))
sums = {}
for each in sorted(data["files"], key=lambda each: each["filename"]):
    name = each["filename"].replace(here, "")
    shown(name, each["summary"])
    total = sums.setdefault(name.split("/")[0], {kind: {"covered": 0, "count": 0} for kind in ("lines", "branches")})
    for kind in total:
        for key in total[kind]:
            total[kind][key] += each["summary"][kind][key]
for name, total in sums.items():
    for kind in total.values():
        kind["percent"] = 100 * kind["covered"] / max(kind["count"], 1)
    shown(name + "/ in all", total)
'
for each in "${failed[@]}"; do echo "failed: $each" >&2; done
[ ${#failed[@]} = 0 ]
