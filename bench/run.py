#!/usr/bin/env python3
"""Runs servers in turn under the same load and prints a table, ratio to the first of them first (see bench/rounds.py).

usage: bench/run.py [echo|resp|bulk|fairness|proxy|http|partial|cores|upload|tls|client|counts|memory|instructions|
                     micro|KIND|all] [--rounds N] [--seconds S] [--only WORD] [--json FILE]
KIND: one of the micro-benchmarks: tasks, sync, files, heads, routes.
The server runs on one core, the load on another. See bench/README.md.
"""

import argparse
import concurrent.futures
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import micro
from measure import load, measure, print_table
from client import client
from cores import cores
from costs import counts, instructions, memory
from partial import partial
from proxy import proxy
from proxy_fairness import fairness_of_proxies
from record import Recording
from rounds import in_turn
from servers import CORES, ROOT, Server, build_peers, file_servers, make_files, servers, there
from tls import tls
from upload import upload


def throughput(work, arguments):
    with tempfile.TemporaryDirectory() as scratch:
        cases = [(50, 1), (1000, 1), (50, 16)]
        for connections, depth in cases:
            rows = measure(work, connections, depth, arguments, scratch)
            message = "106 bytes" if work == "echo" else "PING"
            print_table(f"{work} {message}, {connections} connections, depth {depth}", rows)


def bulk(arguments):
    """Large messages. All servers but gyre have buffers of 64 KiB; gyre's follow the load."""
    os.environ["BENCH_BUFFER"] = "65536"
    with tempfile.TemporaryDirectory() as scratch:
        for size in (16, 64):
            for connections in (1, 16, 200):
                echo = servers("echo", arguments.only)
                rows = measure(f"echo:{size << 10}", connections, 1, arguments, scratch, echo)
                print_table(f"echo {size} KiB, {connections} connections", rows)
        values = {name: command for name, command in servers("resp", arguments.only).items()
                  if name.startswith("gyre") or name == "redis-server"}
        for work in ("set", "get"):
            for connections in (1, 50):
                rows = measure(f"{work}:65536", connections, 1, arguments, scratch, values)
                print_table(f"{work.upper()} of 64 KiB, {connections} connections", rows)
    fairness(arguments)
    del os.environ["BENCH_BUFFER"]


def fairness(arguments, rate=10_000):
    """What one connection with large messages costs 50 with small ones on the same loop.

    Both loads share a core. So the small requests come at a fixed rate, which leaves the core idle most of the time,
    and the large messages use only what is left of it."""
    print(f"\necho 106 bytes, 50 connections, {rate:,} requests/s, alone and beside one with messages of 1 MiB"
          f"\n{'':16}{'p50 us':>10}{'beside':>10}{'p99 us':>10}{'beside':>10}{'added to p99':>28}{'MiB/s beside':>14}")
    rows = {}
    with tempfile.TemporaryDirectory() as scratch:
        for name, command in in_turn(servers("echo", arguments.only).items(), min(arguments.rounds, 5)):
            with Server(name, command, scratch) as server:
                load(server.port, "echo", 50, 1, 0.2)
                alone = load(server.port, "echo", 50, 1, 1.5, rate)
                with concurrent.futures.ThreadPoolExecutor() as other:
                    large = other.submit(load, server.port, f"echo:{1 << 20}", 1, 1, 2.5, yields=True)
                    time.sleep(0.5)
                    beside = load(server.port, "echo", 50, 1, 1.5, rate)
                    moved = large.result()
            rows.setdefault(name, []).append((alone["p50_us"], beside["p50_us"], alone["p99_us"], beside["p99_us"],
                                              beside["p99_us"] - alone["p99_us"], moved["requests"] / moved["seconds"]))
    for name, runs in rows.items():
        columns = list(zip(*runs))
        p50, p50_beside, p99, p99_beside, added, moved = (statistics.median(each) for each in columns)
        shown = f"{added:.0f} ({min(columns[4]):.0f} to {max(columns[4]):.0f})"
        print(f"{name:16}{p50:>10.0f}{p50_beside:>10.0f}{p99:>10.0f}{p99_beside:>10.0f}{shown:>28}{moved:>14.0f}",
              flush=True)


def http(arguments):
    with tempfile.TemporaryDirectory() as scratch:
        for connections, depth in [(64, 1), (64, 16)]:
            rows = measure("http:/", connections, depth, arguments, scratch)
            print_table(f"HTTP hello, {connections} connections, depth {depth}", rows)
        files = Path(scratch, "files")
        files.mkdir()
        make_files(files)
        candidates = there(file_servers(files), arguments.only)
        for name, connections in (("1K", 64), ("64K", 64), ("100M", 4)):
            if name == "100M":
                arguments.seconds *= 3  # few requests a second
            rows = measure(f"http:/{name}", connections, 1, arguments, scratch, candidates)
            print_table(f"HTTP file of {name}, {connections} connections", rows)


def echo(arguments):
    throughput("echo", arguments)


def resp(arguments):
    throughput("resp", arguments)


def proxies(arguments):
    proxy(arguments)
    fairness_of_proxies(arguments)


def kind_of_micro(kind):
    return lambda arguments: micro.compare(kind, min(arguments.rounds, 5))


NAMES = {each.__name__: each for each in (echo, resp, bulk, fairness, http, partial, cores, upload, tls, client, counts,
                                          memory, instructions)} | {"proxy": proxies}
MICRO = {kind: kind_of_micro(kind) for kind in micro.KINDS}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", default="all", choices=[*NAMES, "micro", *MICRO, "all"])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.6)
    parser.add_argument("--only", action="append", default=[], help="servers whose name contains this word")
    parser.add_argument("--json", help="a file for the figures of each round: see bench/plots.py")
    arguments = parser.parse_args()
    recording = Recording(arguments)
    if len(CORES) < 2:
        print("bench: one core only: server and load disturb each other", file=sys.stderr)
    commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    print(f"{platform.system()} {platform.release()}, {os.cpu_count()} cores, commit {commit.stdout.strip()}, "
          f"{arguments.rounds} rounds of {arguments.seconds} s in turn")
    build_peers()
    wanted = {"all": {**NAMES, **MICRO}, "micro": MICRO}.get(arguments.name) or {
        arguments.name: (NAMES | MICRO)[arguments.name]}
    for name, act in wanted.items():
        if name != "fairness" or arguments.name != "all":  # bulk ends with it
            act(arguments)
            recording.write()  # after each, so that a run that is interrupted leaves what it has


if __name__ == "__main__":
    main()
