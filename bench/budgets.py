#!/usr/bin/env python3
"""Counts what a request, an idle connection and a task cost, and compares that with bench/budgets.txt.

usage: bench/budgets.py [--record] [--only WORD] [--profile FOLDER]

Fails when a count is more than 2 % above the recorded one. Counts do not depend on the load of the machine:
  instructions   in user space, for a request on one connection, by valgrind's callgrind on epoll
  allocations    calls of malloc and its like, from the same runs
  calls          system calls, by strace, on each backend
  bytes          on the heap, for an idle connection that has made one request, and for a sleeping task

Instructions depend on the compiler and the libraries. Where these are not those of the record, the script compares the
other counts, names the difference, and ends with 77. `--profile` keeps the results of callgrind for callgrind_annotate.
"""

import argparse
import concurrent.futures
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from counting import Counted, heap_bytes, idle_bytes, instructions, system_calls
from servers import BACKENDS, ROOT

RECORD = ROOT / "bench/budgets.txt"
ALLOWED = 1.02
SLACK = 0.1  # a timer that fires more often per request on a slow machine; in allocations and system calls
SKIPPED = 77


def environment():
    """The compiler, the libraries and the tools on which the number of instructions depends."""
    def first(*command):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return (done.stdout or done.stderr).partition("\n")[0].strip()

    cache = (ROOT / "build/release/CMakeCache.txt").read_text()
    compiler = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.+)$", cache, re.M)[1]
    library = os.path.basename(os.path.realpath(first(compiler, "-print-file-name=libstdc++.so.6")))
    features = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    known = [name for name in ("aes", "avx2", "bmi2", "sha_ni") if features and f" {name} " in features[1] + " "]
    return "; ".join((first(compiler, "--version"), library, first("ldd", "--version"), first("openssl", "version"),
                      first("valgrind", "--version") if shutil.which("valgrind") else "no valgrind",
                      os.uname().machine + " " + " ".join(known)))


def jobs(scratch, profile):
    """name -> a function that returns {count: value}. The longest come first."""
    counted = Counted(scratch, profile)
    found = {}
    for name in counted.kinds:
        if shutil.which("valgrind"):
            found[f"{name}.instructions"] = partial(instructions, counted, name)
        if shutil.which("strace"):
            for backend in BACKENDS:
                found[f"{name}.calls_{backend}"] = partial(system_calls, counted, name, backend)
    for name in ("http", "https", "resp"):
        for backend in BACKENDS:
            found[f"{name}.idle_bytes_{backend}"] = partial(idle_bytes, counted, name, backend)
    found["task.bytes"] = lambda: {"task.bytes": heap_bytes()}
    return found


def measure(only, profile):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    counts = {}
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(2) as pool:
        wanted = [act for name, act in jobs(scratch, profile).items() if not only or any(word in name for word in only)]
        for found in pool.map(lambda act: act(), wanted):
            counts |= found
    return dict(sorted(counts.items()))


def recorded():
    """(environment, {name: count}); an empty record where there is none."""
    if not RECORD.exists():
        return "", {}
    lines = RECORD.read_text().splitlines()
    return lines[1].removeprefix("# "), {name: float(value) for name, value in
                                         (line.split() for line in lines if line and not line.startswith("#"))}


def write(counts):
    text = "".join(f"{name} {value:g}\n" for name, value in sorted(counts.items()))
    RECORD.write_text(f"# Counts that bench/budgets.py compares with; --record writes them. Made with:\n"
                      f"# {environment()}\n{text}")


def verdict(was, name, value, same):
    """What the table says of a count; empty when it is as it was."""
    slack = SLACK if re.search(r"\.(allocations|calls)", name) else 0
    if was is None:
        return "NOT RECORDED"
    if name.endswith("instructions") and not same:
        return "not compared"
    if value > max(was * ALLOWED, was + slack):
        return "RISEN"
    return "fallen: record it" if value < was / ALLOWED - slack else ""


def risen(before, counts, same):
    return [name for name, value in counts.items() if verdict(before.get(name), name, value, same).isupper()]


def measured_again(before, counts, same, profile):
    """What a server does once a second costs more per request while the machine is slow. So a count that has risen is
    measured twice more, and the lowest one holds."""
    for _ in range(2):
        again = {name.replace(".allocations", ".instructions") for name in risen(before, counts, same)}
        if again:
            counts |= {name: min(counts[name], value) for name, value in measure(again, profile).items()}
    return counts


def print_table(before, counts, same):
    print(f"{'':36}{'recorded':>12}{'now':>12}{'change':>9}")
    for name, value in counts.items():
        was = before.get(name)
        change = f"{(value / was - 1) * 100:+.1f} %" if was else ""
        print(f"{name:36}{was if was is not None else 0:>12,.2f}{value:>12,.2f}{change:>9}  "
              f"{verdict(was, name, value, same)}".rstrip())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="write the counts to bench/budgets.txt")
    parser.add_argument("--only", action="append", default=[], help="counts whose name contains this word")
    parser.add_argument("--profile", help="keep the results of callgrind in this folder")
    arguments = parser.parse_args()
    with_then, before = recorded()
    counts = measure(arguments.only, arguments.profile)
    missing = [tool for tool in ("valgrind", "strace") if not shutil.which(tool)]
    if arguments.record:
        if missing:
            sys.exit(f"budgets: nothing is recorded without {' and '.join(missing)}")
        write({**before, **counts} if arguments.only else counts)
        return
    with_now = environment()
    same = with_now == with_then
    counts = measured_again(before, counts, same, arguments.profile)
    print_table(before, counts, same)
    if wrong := risen(before, counts, same):
        sys.exit(f"""budgets: more than {(ALLOWED - 1) * 100:.0f} % above {RECORD.relative_to(ROOT)}, or not in it:
{', '.join(wrong)}
Find the cause: python3 bench/budgets.py --only NAME --profile FOLDER, then callgrind_annotate on its files
When the rise is meant, record it with --record, and say why in the commit.""")
    if missing or not same:
        reason = f"{' and '.join(missing)} not installed" if missing else (
            f"instructions are not compared: recorded with {with_then}; here {with_now}")
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)


if __name__ == "__main__":
    main()
