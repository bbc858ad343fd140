#!/usr/bin/env python3
"""Runs servers in turn under the same load and prints a table, ratio to the first of them first (see bench/rounds.py).

usage: bench/run.py [echo|resp|http|counts|memory|primitives|files|micro|all] [--rounds N] [--seconds S] [--only WORD]
The server runs on one core, the load on another. See bench/README.md.
"""

import argparse
import contextlib
import json
import os
import platform
import re
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import http_servers
import primitives
from rounds import Ratio, in_turn

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / "build/release/bin"
TICK = os.sysconf("SC_CLK_TCK")
CORES = sorted(os.sched_getaffinity(0))
SERVER_CORE, LOAD_CORE = CORES[0], CORES[-1]


class Server:
    """A running server, ended when the block is left."""

    def __init__(self, name, command, scratch, files="/nonexistent"):
        self.name = name
        if name in ("redis-server", "nginx"):
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.port = probe.getsockname()[1]
        if name == "redis-server":
            command = command + ["--port", str(self.port), "--dir", scratch]
        if name == "nginx":
            command = http_servers.nginx(scratch, self.port, files)
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                        preexec_fn=lambda: os.sched_setaffinity(0, {SERVER_CORE}))
        if name == "nginx":  # which says nothing
            self.wait_until_connected()
            return
        for line in self.process.stdout:
            found = re.search(r"listening on \S+:(\d+)", line)
            if found:
                self.port = int(found.group(1))
            if found or "Ready to accept" in line:
                return
        raise SystemExit(f"bench: {name} did not start")

    def wait_until_connected(self):
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.02)
        raise SystemExit(f"bench: {self.name} did not start")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def processes(self):
        """Its own and its children: nginx serves in one."""
        return [self.process.pid,
                *Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()]

    def cpu(self):
        user = system = 0
        for pid in self.processes():
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            user, system = user + int(fields[11]), system + int(fields[12])
        return user / TICK, system / TICK

    def sleeps(self):
        """How often the threads that it has now had nothing to do and waited."""
        count = 0
        for pid in self.processes():
            for task in Path(f"/proc/{pid}/task").iterdir():
                with contextlib.suppress(OSError):  # the thread has ended
                    status = (task / "status").read_text()
                    count += int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", status, re.M).group(1))
        return count

    def resident(self):
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def there(found, only):
    """Those that are built and installed here, and wanted."""
    return {name: command for name, command in found.items()
            if shutil.which(command[2] if command[0] == "env" else command[0]) and
            (not only or any(word in name for word in only))}


def servers(work, only):
    """name -> command of what is built and installed here."""
    if work == "http:/":
        return there(http_servers.hello_servers(), only)
    ours = str(BIN / f"{work}_server")
    found = {"bare io_uring": [str(BIN / f"bare_uring_{work}")], "bare epoll": [str(BIN / f"bare_epoll_{work}")],
             "gyre io_uring": [ours, "--listen", "127.0.0.1:0", "--backend", "io_uring"],
             "gyre epoll": [ours, "--listen", "127.0.0.1:0", "--backend", "epoll"],
             "asio": [str(BIN / f"asio_{work}")], "libuv": [str(BIN / f"uv_{work}")],
             "tokio": [str(ROOT / f"build/bench/tokio/release/tokio_{work}")]}
    if work == "resp":
        found["redis-server"] = ["redis-server", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    return there(found, only)


def load(port, work, connections, depth, seconds):
    done = subprocess.run([str(BIN / "load"), str(port), work, str(connections), str(depth), str(seconds)],
                          capture_output=True, text=True, timeout=seconds + 30,
                          preexec_fn=lambda: os.sched_setaffinity(0, {LOAD_CORE}))
    if done.returncode != 0:
        raise SystemExit(f"bench: the load failed: {done.stderr}")
    return json.loads(done.stdout)


def measure(work, connections, depth, arguments, scratch, candidates=None, files="/nonexistent"):
    """name -> what each round showed."""
    candidates = candidates or servers(work, arguments.only)
    rows = {name: [] for name in candidates}
    for name, command in in_turn(candidates.items(), arguments.rounds):
        with Server(name, command, scratch, files) as server:
            load(server.port, work, connections, depth, 0.15)
            user, system = server.cpu()
            result = load(server.port, work, connections, depth, arguments.seconds)
            user_after, system_after = server.cpu()
            rows[name].append({"rate": result["requests"] / result["seconds"], "requests": result["requests"],
                               "user": (user_after - user) * 1e6, "system": (system_after - system) * 1e6,
                               "p50": result["p50_us"], "p99": result["p99_us"]})
    return rows


def print_table(title, rows):
    base = next(iter(rows))
    rates = {name: [run["rate"] for run in runs] for name, runs in rows.items()}
    ours = [name for name in rows if name.startswith("gyre")]
    print(f"\n{title}\n{'':16}{'ratio':>22}{'requests/s':>12}{'user us':>9}{'system us':>11}"
          f"{'p50 us':>8}{'p99 us':>8}" +
          "".join(f"{name + ' to it':>26}" for name in ours))
    for name, runs in sorted(rows.items(), key=lambda row: -Ratio(rates[row[0]], rates[base]).value):
        # Linux samples which half a program is in 250 times a second: taken from all rounds together.
        requests = sum(run["requests"] for run in runs)
        user, system = (sum(run[half] for run in runs) / requests for half in ("user", "system"))
        middle = {key: statistics.median(run[key] for run in runs) for key in ("rate", "p50", "p99")}
        print(f"{name:16}{str(Ratio(rates[name], rates[base])):>22}{middle['rate']:>12,.0f}{user:>9.3f}{system:>11.3f}"
              f"{middle['p50']:>8.0f}{middle['p99']:>8.0f}" +
              "".join(f"{str(Ratio(rates[each], rates[name])) if each != name else '':>26}" for each in ours),
              flush=True)


def throughput(work, arguments):
    with tempfile.TemporaryDirectory() as scratch:
        cases = [(50, 1), (1000, 1), (50, 16)]
        for connections, depth in cases:
            rows = measure(work, connections, depth, arguments, scratch)
            message = "106 bytes" if work == "echo" else "PING"
            print_table(f"{work} {message}, {connections} connections, depth {depth}", rows)


def http(arguments):
    http_servers.build_peers()
    with tempfile.TemporaryDirectory() as scratch:
        for connections, depth in [(64, 1), (64, 16)]:
            rows = measure("http:/", connections, depth, arguments, scratch)
            print_table(f"HTTP hello, {connections} connections, depth {depth}", rows)
        files = Path(scratch, "files")
        files.mkdir()
        http_servers.make_files(files)
        candidates = there(http_servers.file_servers(files), arguments.only)
        for name, connections in (("1K", 64), ("64K", 64), ("100M", 4)):
            if name == "100M":
                arguments.seconds *= 3  # few requests a second
            rows = measure(f"http:/{name}", connections, 1, arguments, scratch, candidates, files)
            print_table(f"HTTP file of {name}, {connections} connections", rows)


def counts(arguments):
    """System calls of a request, counted by strace while a load runs."""
    if not shutil.which("strace"):
        print("counts: strace is not installed")
        return
    print(f"\nSystem calls a request, 50 connections, depth 1\n{'':16}{'calls':>8}  which")
    with tempfile.TemporaryDirectory() as scratch:
        for name, command in servers("resp", arguments.only).items():
            with Server(name, command, scratch) as server:
                # Counted from outside, so that the programs need no code for it; strace slows them, not their counts.
                log = Path(scratch, "strace")
                tracer = subprocess.Popen(["strace", "-c", "-f", "-o", str(log), "-p", str(server.process.pid)],
                                          stderr=subprocess.DEVNULL)
                time.sleep(0.5)
                requests = load(server.port, "resp", 50, 1, 2)["requests"]
                tracer.send_signal(2)
                tracer.wait(20)
                calls = {f[-1]: int(f[3]) for f in (line.split() for line in log.read_text().splitlines())
                         if len(f) >= 5 and f[3].isdigit() and f[-1] != "total"}
                shown = ", ".join(f"{c} {n / requests:.3f}" for c, n in sorted(calls.items(), key=lambda i: -i[1])[:3])
                print(f"{name:16}{sum(calls.values()) / requests:>8.3f}  {shown}", flush=True)


def memory(arguments):
    """Resident bytes of an idle connection in the server process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    count = min(9_000, hard - 200)
    print(f"\nResident memory of an idle connection, {count} connections\n{'':16}{'bytes':>8}")
    with tempfile.TemporaryDirectory() as scratch:
        for name, command in servers("echo", arguments.only).items():
            with Server(name, command, scratch) as server:
                warm = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(100)]
                before = server.resident()
                idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(count)]
                idle[-1].sendall(b"x")
                idle[-1].recv(1)
                print(f"{name:16}{(server.resident() - before) / count:>8.0f}", flush=True)
                for each in warm + idle:
                    each.close()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def micro():
    for program in sorted(BIN.glob("micro_*")):
        subprocess.run([str(program), "--benchmark_min_warmup_time=0.2"], check=True, timeout=300,
                       preexec_fn=lambda: os.sched_setaffinity(0, {SERVER_CORE}))


def build_tokio():
    manifest = ROOT / "bench/peers/tokio/Cargo.toml"
    if manifest.exists() and shutil.which("cargo"):
        subprocess.run(["cargo", "build", "--release", "--quiet", "--manifest-path", str(manifest), "--target-dir",
                        str(ROOT / "build/bench/tokio")], check=False, timeout=600)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", default="all",
                        choices=["echo", "resp", "http", "counts", "memory", "primitives", "files", "micro", "all"])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.6)
    parser.add_argument("--only", action="append", default=[], help="servers whose name contains this word")
    arguments = parser.parse_args()
    if len(CORES) < 2:
        print("bench: one core only: server and load disturb each other", file=sys.stderr)
    commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    print(f"{platform.system()} {platform.release()}, {os.cpu_count()} cores, commit {commit.stdout.strip()}, "
          f"{arguments.rounds} rounds of {arguments.seconds} s in turn")
    if arguments.name not in ("counts", "memory", "micro"):
        build_tokio()
    for work in ("echo", "resp"):
        if arguments.name in (work, "all"):
            throughput(work, arguments)
    if arguments.name in ("http", "all"):
        http(arguments)
    if arguments.name in ("counts", "all"):
        counts(arguments)
    if arguments.name in ("memory", "all"):
        memory(arguments)
    for kind in ("primitives", "files"):
        if arguments.name in (kind, "all"):
            primitives.compare(kind, min(arguments.rounds, 5))
    if arguments.name in ("micro", "all"):
        micro()


if __name__ == "__main__":
    main()
