#!/usr/bin/env python3
"""The demo: resp_server on both backends beside redis-server, under redis-benchmark; prints a table, stops everything."""

import argparse
import csv
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / "build/release/bin"
TESTS = "ping_inline,ping_mbulk,set,get,incr,mset"


class Server:
    """A server process on a free port of 127.0.0.1, ended when the block is left, however that happens."""

    def __init__(self, name, command, ready, port=None, core=None):
        self.name, self.command, self.ready, self.port, self.core = name, command, ready, port, core

    def __enter__(self):
        pin = (lambda: os.sched_setaffinity(0, {self.core})) if self.core is not None else None
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                        preexec_fn=pin)
        for line in self.process.stdout:
            found = re.search(self.ready, line)
            if found:
                self.port = self.port or int(found.group(1))
                return self
        raise SystemExit(f"demo: {self.name} ended before it was ready (exit {self.process.wait()}): "
                         f"{' '.join(map(str, self.command))}")

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


def free_port():
    import socket
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def servers(scratch, core):
    ours = [str(BIN / "resp_server"), "--listen", "127.0.0.1:0", "--backend"]
    for backend in ("io_uring", "epoll"):
        yield Server(f"gyre {backend}", ours + [backend], r"listening on .*:(\d+) \(", core=core)
    port = free_port()
    yield Server("redis-server", ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "",
                                  "--appendonly", "no", "--dir", scratch], r"Ready to accept connections", port, core)


def benchmark(port, pipeline, requests, core):
    command = ["redis-benchmark", "-h", "127.0.0.1", "-p", str(port), "-t", TESTS, "-n", str(requests),
               "-P", str(pipeline), "-c", "50", "--csv"]
    pin = (lambda: os.sched_setaffinity(0, {core})) if core is not None else None
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, preexec_fn=pin)
    if done.returncode != 0:
        raise SystemExit(f"demo: redis-benchmark failed:\n{done.stdout}{done.stderr}")
    rows = csv.reader(io.StringIO(done.stdout))
    return {row[0].split(" (")[0]: float(row[1]) for row in rows if len(row) > 1 and row[0] != "test"}


def io_uring_available():
    probe = subprocess.run([str(BIN / "gyre"), "doctor"], capture_output=True, text=True)
    return re.search(r"^backend: *io_uring", probe.stdout, re.M) is not None, probe.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=200_000, help="requests of each test (default 200000)")
    arguments = parser.parse_args()
    if not shutil.which("redis-benchmark"):
        raise SystemExit("demo: redis-benchmark is missing; install redis-tools (./gyre demo does that)")

    cores = sorted(os.sched_getaffinity(0))
    server_core, load_core = (cores[0], cores[1]) if len(cores) > 1 else (None, None)
    available, doctor = io_uring_available()
    print(doctor)
    results = {}
    with tempfile.TemporaryDirectory() as scratch:
        for server in servers(scratch, server_core):
            if server.name == "gyre io_uring" and not available:
                print("io_uring cannot be used here (see above): skipped")
                continue
            if server.name == "redis-server" and not shutil.which("redis-server"):
                print("redis-server is not installed: skipped")
                continue
            with server:
                for pipeline in (1, 16):
                    print(f"{server.name}, pipeline {pipeline} …", file=sys.stderr)
                    results[server.name, pipeline] = benchmark(server.port, pipeline,
                                                               arguments.requests * (5 if pipeline > 1 else 1), load_core)

    names = list(dict.fromkeys(name for name, _ in results))
    print("Requests per second, 50 connections" +
          ("" if load_core is None else f", server on core {server_core}, load on core {load_core}"))
    for pipeline in (1, 16):
        print(f"\npipeline {pipeline:<14}" + "".join(f"{name:>16}" for name in names))
        for test in results[names[0], pipeline]:
            print(f"  {test:<22}" + "".join(f"{results[name, pipeline].get(test, 0):>16,.0f}" for name in names))
    print("\nEverything that was started has been stopped.")


if __name__ == "__main__":
    main()
