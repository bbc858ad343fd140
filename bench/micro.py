"""Micro-benchmarks: runs the programs that measure the same operations in turn, and prints a row for each operation."""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from servers import BIN, ROOT, TOKIO, on_each_backend, pinned_to

KINDS = ("tasks", "sync", "files", "heads", "routes")  # bench/micro/micro_KIND.cpp, and its peers


def contenders(kind):
    """name -> command of what is built and installed here."""
    script = ROOT / f"bench/micro/asyncio_{kind}.py"
    peers = {"asio": [str(BIN / f"asio_{kind}")], "tokio": [str(TOKIO / f"tokio_{kind}")]}
    if script.exists():
        peers["Python asyncio"] = [sys.executable, str(script)]
    ours = {"gyre": [str(BIN / f"micro_{kind}")]}
    if kind == "files":
        ours = {**on_each_backend(BIN / "micro_files"), "blocking calls": [str(BIN / "bare_files")]}
    return {name: command for name, command in (ours | peers).items() if shutil.which(command[-1]) or command[0] ==
            sys.executable}


def measure(command, arguments):
    # Threads and the kernel's workers need the second core where there is something for them to do.
    done = subprocess.run(command + arguments, capture_output=True, text=True, timeout=300,
                          preexec_fn=pinned_to(os.sched_getaffinity(0)))
    if done.returncode != 0:
        raise SystemExit(f"bench: {command} failed: {done.stderr}")
    return {name: float(value) for name, value in (line.split("\t") for line in done.stdout.splitlines())}


def compare(kind, rounds):
    everybody = contenders(kind)
    results = {name: {} for name in everybody}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            for name, command in everybody.items():
                arguments = [str(Path(folder, "file"))] if kind == "files" else []
                for operation, value in measure(command, arguments).items():
                    results[name].setdefault(operation, []).append(value)
    print(f"\n{kind}: nanoseconds an operation, medians of {rounds} rounds; ratio: the best peer's to ours")
    print(f"{'':40}" + "".join(f"{name:>16}" for name in everybody) + f"{'ratio':>8}")
    for operation in next(iter(results.values())):
        values = {name: statistics.median(found[operation]) for name, found in results.items() if operation in found}
        own = min(value for name, value in values.items() if name.startswith("gyre"))
        peers = [value for name, value in values.items() if not name.startswith("gyre") and name != "blocking calls"]
        ratio = f"{min(peers) / own:.2f}" if peers else "-"
        print(f"{operation:40}" + "".join(f"{values[name]:>16,.1f}" if name in values else f"{'-':>16}"
                                          for name in everybody)
              + f"{ratio:>8}", flush=True)
