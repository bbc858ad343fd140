#!/usr/bin/env python3
"""Repeats the measurements of the field's own articles: each prints a table, ratio first, and draws a picture.

usage: bench/articles/articles.py [small|repeat|sleep|ab|echo|redis|counter|all] [--rounds N] [--seconds S]

  small    a small response, blocking and coroutine server, wrk -t10 -c1000     published: 32,483 -> 72,363 requests/s
  repeat   /repeat?count=10000, wrk -t12 -c1000           published: 42,021 blocking, 33,692 with coroutines
  sleep    /sleep?ms=X, wrk -t12 -c1000                   published: 54,294 falls to 97, coroutines hold about 42,000
  ab       106 bytes echoed, ab -k -c1000                 published: 164,458 with coroutines, 47,394 Python asyncio
  echo     128, 512 and 1000 bytes, 1 to 500 clients, on io_uring with and without coroutines
  redis    PING_INLINE, 1000 clients, one thread          published: 360,000 redis-server, 550,000 with coroutines
  counter  a counter behind a mutex, incremented 10^9 times by 1000 tasks

Servers run in turn, on one core; the load on another. Each figure is the median of all rounds, each ratio that of the
ratios of one round: see bench/rounds.py. Pictures: build/bench/articles.
What they showed, and why: bench/articles/README.md.
"""

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))

from curves import Curves
from rounds import in_turn
from measure import load, output_of
from servers import BIN, LOAD_CORE, REDIS, ROOT, SERVER_CORE, TOKIO, Server, build_peers, gyre_program, there
from table import Table

PICTURES = ROOT / "build/bench/articles"
ONE_AT_A_TIME, THREADS = "blocking, one connection at a time", "blocking, a thread for each"


def ours(program, *arguments):
    return {name.replace(" ", ", "): command for name, command in gyre_program(program, *arguments).items()}


def busy(program):
    """Looks for work for 50 microseconds before it sleeps."""
    return {"gyre, io_uring, busy poll": [str(BIN / program), "--listen", "127.0.0.1:0", "--backend", "io_uring",
                                          "--busy-poll", "50"]}


HTTP = {ONE_AT_A_TIME: [str(BIN / "repeat_sleep_blocking"), "--listen", "127.0.0.1:0"],
        THREADS: [str(BIN / "repeat_sleep_threads"), "--listen", "127.0.0.1:0"],
        **ours("repeat_sleep_server")}


def number(pattern, text):
    found = re.search(pattern, text)
    if not found:
        sys.exit(f"bench: no figure in: {text}")
    return float(found.group(1))


# Each of these is a load: given a server, it tells (requests a second, requests in all).

def wrk(target, threads, seconds):
    def run(server):
        text = output_of(["wrk", f"-t{threads}", "-c1000", f"-d{seconds}s", f"http://127.0.0.1:{server.port}{target}"],
                         seconds)
        if "Non-2xx" in text:
            sys.exit(f"bench: {server.name} refuses {target}: {text}")
        return number(r"Requests/sec:\s+([\d.]+)", text), number(r"(\d+) requests in", text)
    return run


def apache_bench(count):
    """Takes the echo of its own 106 bytes for a response: a status line must follow, so it counts all of them as not
    2xx."""
    def run(server):
        text = output_of(["ab", "-q", "-k", "-c1000", f"-n{count}", "-H", "Host: 127.0.0.1:8888",
                          f"http://127.0.0.1:{server.port}/"], 120)
        if number(r"Total transferred:\s+(\d+)", text) != 106 * count:
            sys.exit(f"bench: {server.name} does not send back 106 bytes: {text}")
        return number(r"Requests per second:\s+([\d.]+)", text), count
    return run


def redis_benchmark(count, pipelined=1):
    def run(server):
        text = output_of(["redis-benchmark", "--csv", "-p", str(server.port), "-c", "1000", "-n", str(count),
                          "-P", str(pipelined),
                          "-t", "ping_inline"], 120)
        return number(r'"PING_INLINE","([\d.]+)"', text), count
    return run


def round_trips(work, connections, seconds):
    def run(server):
        result = load(server.port, work, connections, 1, seconds)
        return result["requests"] / result["seconds"], result["requests"]
    return run


def compare(commands, measure, rounds):
    """Returns, by name and for each round: the requests per second, the server's microseconds of processor time per
    request, and how often the server slept per thousand requests."""
    runs = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as scratch:
        for name, command in in_turn(commands.items(), rounds):
            with Server(name, command, scratch) as server:
                before, slept = sum(server.cpu()), server.sleeps()
                rate, count = measure(server)
                runs[name].append((rate, (sum(server.cpu()) - before) / count * 1e6,
                                   (server.sleeps() - slept) / count * 1e3))
    return runs


def rates(runs):
    return [rate for rate, *_ in runs]


def show(title, unit, runs, published, picture):
    """`published`: what the article says of servers whose name begins so."""
    table = Table(title, unit)
    for name, each in runs.items():
        said = next((figure for start, figure in published.items() if name.startswith(start)), None)
        _, cost, *sleeps = [statistics.median(column) for column in zip(*each)]
        table.add(name, rates(each), said, cost, *sleeps)
    table.print()
    table.draw(PICTURES / picture)


def small(arguments):
    figures = compare(HTTP, wrk("/repeat?count=13", 10, arguments.seconds), arguments.rounds)
    show("A response of 13 bytes, wrk -t10 -c1000", "requests/s", figures, {ONE_AT_A_TIME: 32_483, "gyre": 72_363},
         "small.svg")


def repeat(arguments):
    figures = compare(HTTP, wrk("/repeat?count=10000", 12, arguments.seconds), arguments.rounds)
    show("/repeat?count=10000, wrk -t12 -c1000", "requests/s", figures, {ONE_AT_A_TIME: 42_021, "gyre": 33_692},
         "repeat.svg")


def sleep(arguments):
    names = [ONE_AT_A_TIME, THREADS, "gyre, epoll", "gyre, io_uring"]
    curves = Curves("/sleep?ms=X, wrk -t12 -c1000", "requests/s", "X", names)
    for milliseconds in ("0", "0.000001", "0.00001", "0.0001", "0.001", "0.01", "0.1", "1", "10"):
        figures = compare(HTTP, wrk(f"/sleep?ms={milliseconds}", 12, arguments.seconds), min(arguments.rounds, 5))
        curves.add(milliseconds, [rates(figures[name]) for name in names])
    curves.draw(PICTURES / "sleep.svg")


def ab(arguments):
    build_peers()
    asyncio = ["python3", str(ROOT / "bench/peers/asyncio_echo.py")]
    commands = there({"Python asyncio": asyncio, **ours("echo_server"),
                      **busy("echo_server"),
                      "libuv": [str(BIN / "uv_echo")], "Asio": [str(BIN / "asio_echo")],
                      "tokio": [str(TOKIO / "tokio_echo")],
                      "epoll, no library": [str(BIN / "bare_epoll_echo")],
                      "libevent": [str(BIN / "event_echo")]}, [])
    if subprocess.run(["python3", "-c", "import uvloop"], stderr=subprocess.DEVNULL).returncode == 0:
        commands["uvloop"] = [*asyncio, "--uvloop"]
    else:
        print("bench: uvloop is left out: pip install uvloop", file=sys.stderr)
    published = {"Python asyncio": 47_394, "gyre": 164_458, "libuv": 159_938, "Asio": 159_323, "tokio": 156_853,
                 "epoll": 153_148,
                 "libevent": 136_996, "uvloop": 100_427}
    show("106 bytes echoed, ab -k -c1000", "requests/s",
         compare(commands, apache_bench(60_000 * arguments.seconds), arguments.rounds), published, "ab.svg")
    # ab itself takes most of the time of a request; so the same again with a load that needs less.
    show("106 bytes echoed, 1000 connections, bench/load", "requests/s",
         compare(commands, round_trips("echo:106", 1000, arguments.seconds), arguments.rounds), published, "load.svg")


def echo(arguments):
    commands = {"io_uring without coroutines": [str(BIN / "bare_uring_echo")], **busy("echo_server"),
                "gyre, io_uring": [str(BIN / "echo_server"), "--listen", "127.0.0.1:0", "--backend", "io_uring"]}
    for size in (128, 512, 1000):
        curves = Curves(f"{size} bytes echoed", "round trips/s", "clients", list(commands))
        for clients in (1, 50, 150, 300, 500):
            figures = compare(commands, round_trips(f"echo:{size}", clients, arguments.seconds), arguments.rounds)
            curves.add(clients, [rates(each) for each in figures.values()])
        curves.draw(PICTURES / f"echo{size}.svg")


def redis(arguments):
    commands = {"redis-server": REDIS,
                **ours("resp_server"), **busy("resp_server")}
    published = {"redis-server": 360_000, "gyre": 550_000}
    loads = [("PING_INLINE, redis-benchmark -c 1000", redis_benchmark(60_000 * arguments.seconds), "redis.svg"),
             # The client that takes most of the time is given less to do, in two ways.
             ("PING_INLINE, redis-benchmark -c 1000 -P 16", redis_benchmark(600_000 * arguments.seconds, 16),
              "redis16.svg"),
             ("PING, 1000 connections, bench/load", round_trips("resp", 1000, arguments.seconds), "redis_load.svg")]
    for title, measure, picture in loads:
        show(title, "requests/s", compare(commands, measure, arguments.rounds), published, picture)


def counter(arguments):
    build_peers()
    ours = str(BIN / "counter")
    commands = there({"std::mutex, 1000 threads": [ours, "threads"], "std::mutex, one thread": [ours, "thread"],
                      "tokio::sync::Mutex, 1000 tasks": [str(TOKIO / "tokio_counter")],
                      "gyre::mutex, 1000 tasks": [ours, "gyre"]}, [])
    runs = {name: [] for name in commands}
    for name, command in in_turn(commands.items(), min(arguments.rounds, 5)):
        rate = number(r"increments/s: ([\d.]+)", output_of(command, 300))
        runs[name].append((rate, 1e6 / rate))
    show("A counter behind a mutex, incremented 10^9 times on one core", "increments/s", runs, {}, "counter.svg")


ARTICLES = {each.__name__: each for each in (small, repeat, sleep, ab, echo, redis, counter)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", default="all", choices=[*ARTICLES, "all"])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=int, default=1)
    arguments = parser.parse_args()
    if SERVER_CORE == LOAD_CORE:
        print("bench: one core only: server and load disturb each other", file=sys.stderr)
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name, article in ARTICLES.items():
        if arguments.name in (name, "all"):
            article(arguments)


if __name__ == "__main__":
    main()
