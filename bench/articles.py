#!/usr/bin/env python3
"""Repeats the measurements of the field's own articles: tables, ratio first, and pictures in build/bench/articles.

usage: bench/articles.py [small|repeat|sleep|echo|redis|counter|all] [--rounds N] [--seconds S]

  small    a small response, blocking and coroutine server, wrk -t10 -c1000     published: 32,483 -> 72,363 requests/s
  repeat   /repeat?count=10000, wrk -t12 -c1000           published: 42,021 blocking, 33,692 with coroutines
  sleep    /sleep?ms=X, wrk -t12 -c1000                   published: 54,294 falls to 97, coroutines hold about 42,000
  echo     128, 512 and 1000 bytes, 1 to 500 clients, on io_uring with and without coroutines
  redis    PING_INLINE, 1000 clients, one thread          published: 360,000 redis-server, 550,000 with coroutines
  counter  a counter behind a mutex, incremented 10^9 times by 1000 tasks

Servers run in turn, on one core; the load on another. Each figure is the median of the rounds.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile

from run import BIN, LOAD_CORE, ROOT, SERVER_CORE, Server, load
from table import Table

PICTURES = ROOT / "build/bench/articles"
ONE_AT_A_TIME, THREADS = "blocking, one connection at a time", "blocking, a thread for each"


def ours(program, *arguments):
    return {f"gyre, {backend}": ["env", f"GYRE_BACKEND={backend}", str(BIN / program), *arguments]
            for backend in ("epoll", "io_uring")}


HTTP = {ONE_AT_A_TIME: [str(BIN / "repeat_sleep_blocking"), "--listen", "127.0.0.1:0"],
        THREADS: [str(BIN / "repeat_sleep_threads"), "--listen", "127.0.0.1:0"],
        **ours("repeat_sleep_server", "--listen", "127.0.0.1:0")}


def on_load_core():
    os.sched_setaffinity(0, {LOAD_CORE})


def found_in(pattern, command, seconds):
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 120, preexec_fn=on_load_core)
    found = re.search(pattern, done.stdout)
    if done.returncode != 0 or not found or "Non-2xx" in done.stdout:
        sys.exit(f"bench: {' '.join(command)} failed: {done.stdout}{done.stderr}")
    return float(found.group(1))


def wrk(target, threads, seconds):
    return lambda server: found_in(r"Requests/sec:\s+([\d.]+)", [
        "wrk", f"-t{threads}", "-c1000", f"-d{seconds}s", f"http://127.0.0.1:{server.port}{target}"], seconds)


def redis_benchmark(count):
    return lambda server: found_in(r'"PING_INLINE","([\d.]+)"', [
        "redis-benchmark", "--csv", "-p", str(server.port), "-c", "1000", "-n", str(count), "-t", "ping_inline"], 120)


def compare(commands, measure, rounds):
    """name -> median of what `measure(server)` gives for each of the servers, in turn."""
    figures = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as scratch:
        for _ in range(rounds):
            for name, command in commands.items():
                with Server(name, command, scratch) as server:
                    figures[name].append(measure(server))
    return {name: statistics.median(each) for name, each in figures.items()}


def show(title, unit, figures, published, picture):
    """`published` names the figures of the article: the first row's, and gyre's place."""
    table = Table(title, unit)
    for i, (name, figure) in enumerate(figures.items()):
        table.add(name, figure, published[0] if i == 0 else published[1] if name.startswith("gyre") else None)
    table.print()
    table.draw(PICTURES / picture)


def small(arguments):
    figures = compare(HTTP, wrk("/repeat?count=13", 10, arguments.seconds), arguments.rounds)
    show("A response of 13 bytes, wrk -t10 -c1000", "requests/s", figures, (32_483, 72_363), "small.svg")


def repeat(arguments):
    figures = compare(HTTP, wrk("/repeat?count=10000", 12, arguments.seconds), arguments.rounds)
    show("/repeat?count=10000, wrk -t12 -c1000", "requests/s", figures, (42_021, 33_692), "repeat.svg")


def sleep(arguments):
    print(f"\n/sleep?ms=X, wrk -t12 -c1000, requests/s; the ratio is gyre's on io_uring to one connection at a time\n{'X':>10}"
          f"{'ratio':>10}" + "".join(f"{name.split(', ')[1]:>28}" for name in HTTP))
    for milliseconds in ("0", "0.000001", "0.00001", "0.0001", "0.001", "0.01", "0.1", "1", "10"):
        figures = compare(HTTP, wrk(f"/sleep?ms={milliseconds}", 12, arguments.seconds), arguments.rounds)
        ratio = figures["gyre, io_uring"] / figures[ONE_AT_A_TIME]
        print(f"{milliseconds:>10}{ratio:>10.2f}" + "".join(f"{each:>28,.0f}" for each in figures.values()), flush=True)
    show("/sleep?ms=10, wrk -t12 -c1000", "requests/s", figures, (97, 42_000), "sleep.svg")


def echo(arguments):
    commands = {"io_uring without coroutines": [str(BIN / "bare_uring_echo")],
                "gyre, io_uring": [str(BIN / "echo_server"), "--listen", "127.0.0.1:0", "--backend", "io_uring"]}
    sizes, clients = (128, 512, 1000), (1, 50, 150, 300, 500)
    print(f"\necho on io_uring, round trips/s, with coroutines to without\n{'clients':>8}" +
          "".join(f"{f'{size} bytes':>32}" for size in sizes))
    for count in clients:
        line = f"{count:>8}"
        for size in sizes:
            def measure(server, count=count, size=size):
                result = load(server.port, f"echo:{size}", count, 1, arguments.seconds)
                return result["requests"] / result["seconds"]
            bare, gyre = compare(commands, measure, arguments.rounds).values()
            line += f"{f'{gyre / bare:.3f}  ({gyre:,.0f} / {bare:,.0f})':>32}"
            if (count, size) == (300, 512):
                shown = {"io_uring without coroutines": bare, "gyre, io_uring": gyre}
        print(line, flush=True)
    show("echo of 512 bytes, 300 clients", "round trips/s", shown, (None, None), "echo.svg")


def redis(arguments):
    commands = {"redis-server": ["redis-server", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"],
                **ours("resp_server", "--listen", "127.0.0.1:0")}
    figures = compare(commands, redis_benchmark(200_000 * arguments.seconds), arguments.rounds)
    show("PING_INLINE, redis-benchmark -c 1000", "requests/s", figures, (360_000, 550_000), "redis.svg")


def counter(arguments):
    """One thread needs no lock for its counter: the first row is what the lock of the standard library costs it."""
    figures = {}
    for name, kind in (("std::mutex, one thread", "std"), ("gyre::mutex, 1000 tasks", "gyre")):
        runs = [found_in(r"increments/s: ([\d.]+)", [str(BIN / "counter"), kind], 120) for _ in range(arguments.rounds)]
        figures[name] = statistics.median(runs)
    show("A counter behind a mutex, incremented 10^9 times", "increments/s", figures, (None, None), "counter.svg")


ARTICLES = {each.__name__: each for each in (small, repeat, sleep, echo, redis, counter)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", default="all", choices=[*ARTICLES, "all"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=3)
    arguments = parser.parse_args()
    if SERVER_CORE == LOAD_CORE:
        print("bench: one core only: server and load disturb each other", file=sys.stderr)
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name, article in ARTICLES.items():
        if arguments.name in (name, "all"):
            article(arguments)


if __name__ == "__main__":
    main()
