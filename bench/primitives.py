"""Runs the programs that measure the same operations in turn, and prints a row for each operation."""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / "build/release/bin"
TOKIO = ROOT / "build/bench/tokio/release"
OURS = "gyre"


def contenders(kind):
    """name -> (command, environment) of what is built and installed here."""
    script = str(ROOT / f"bench/primitives/asyncio_{kind}.py")
    found = {"asio": [str(BIN / f"asio_{kind}")], "tokio": [str(TOKIO / f"tokio_{kind}")],
             "Python asyncio": [sys.executable, script]}
    found = {name: (command, {}) for name, command in found.items()}
    ours = [str(BIN / f"gyre_{kind}")]
    if kind == "files":
        found = {"gyre io_uring": (ours, {"GYRE_BACKEND": "io_uring"}), "gyre epoll": (ours, {"GYRE_BACKEND": "epoll"}),
                 "blocking calls": ([str(BIN / "bare_files")], {}), **found}
    else:
        found = {OURS: (ours, {}), **found}
    missing = [name for name, (command, _) in found.items()
               if not all(shutil.which(c) or Path(c).exists() for c in command)]
    if missing:
        print(f"not here: {', '.join(missing)}")
    return {name: entry for name, entry in found.items() if name not in missing}


def measure(command, environment, arguments, cores):
    done = subprocess.run(command + arguments, capture_output=True, text=True, timeout=300,
                          env={**os.environ, **environment}, preexec_fn=lambda: os.sched_setaffinity(0, cores))
    if done.returncode != 0:
        raise SystemExit(f"bench: {command[0]} failed: {done.stderr}")
    return {name: float(value) for name, value in (line.split("\t") for line in done.stdout.splitlines())}


def compare(kind, rounds):
    everybody = contenders(kind)
    cores = os.sched_getaffinity(0)
    results = {name: {} for name in everybody}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            for name, (command, environment) in everybody.items():
                arguments = [str(Path(folder, "file"))] if kind == "files" else []
                # Threads and the kernel's workers need the second core where there is something for them to do.
                for operation, value in measure(command, environment, arguments, cores).items():
                    results[name].setdefault(operation, []).append(value)
    print(f"\n{kind}: nanoseconds an operation, medians of {rounds} rounds; ratio: the best peer's to ours")
    print(f"{'':24}" + "".join(f"{name:>16}" for name in everybody) + f"{'ratio':>8}")
    for operation in next(iter(results.values())):
        values = {name: statistics.median(found[operation]) for name, found in results.items() if operation in found}
        own = min(value for name, value in values.items() if name.startswith(OURS))
        peers = [value for name, value in values.items() if not name.startswith(OURS) and name != "blocking calls"]
        ratio = f"{min(peers) / own:.2f}" if peers else "-"
        print(f"{operation:24}" + "".join(f"{values[name]:>16,.1f}" if name in values else f"{'-':>16}"
                                          for name in everybody)
              + f"{ratio:>8}", flush=True)
