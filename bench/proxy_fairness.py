"""What downloads through an HTTP proxy cost small requests through the same loop.

The origin, the small requests and the downloads share a core. So the small requests come at a fixed rate, and the
client of the downloads runs only when nothing else wants that core (SCHED_IDLE)."""

import concurrent.futures
import statistics
import tempfile
import time
from pathlib import Path

from measure import load
from proxy import origin, proxies, transfer
from rounds import in_turn
from servers import Server, gyre_program

SIZE = 5 << 30  # of all downloads together: more than a proxy moves while the latency is measured
NAMES = ("gyre io_uring", "gyre epoll", "haproxy 64 KiB", "nginx")


def origin_of_zeros(folder, scratch):
    """Files of zeros in memory, which are named by their size, as `transfer` asks for them."""
    for size in (SIZE, SIZE // 16, 13):
        with open(Path(folder, str(size)), "wb") as file:
            file.truncate(size)
    return origin(gyre_program("gyre", "serve", folder, "--allow-host", "origin", "--access-log", "off")["gyre epoll"],
                  scratch)


def latencies(port, rate):
    """p50 and p99 of the small requests alone, beside one download, and beside 16."""
    def small():
        shown = load(port, "http:/13", 50, 1, 1.5, rate)
        return shown["p50_us"], shown["p99_us"]
    load(port, "http:/13", 50, 1, 0.3)
    found = [small()]
    for connections in (1, 16):
        with concurrent.futures.ThreadPoolExecutor() as other:
            downloads = other.submit(transfer, "get", port, SIZE // connections, connections, yields=True)
            time.sleep(0.4)
            found.append(small())
            if downloads.done():
                print(f"{'':16}the downloads over {connections} ended early")
            downloads.result()
    return found


def fairness_of_proxies(arguments, rate=3000):
    print(f"\nHTTP proxy, 50 connections, {rate:,} requests/s, alone, beside one download and beside 16"
          f"\n{'':16}{'p50 us':>11}{'1':>11}{'16':>11}{'p99 us':>11}{'1':>11}{'16':>11}{'added by 1':>32}{'by 16':>32}")
    with (tempfile.TemporaryDirectory(dir="/dev/shm") as files, tempfile.TemporaryDirectory() as scratch,
          origin_of_zeros(files, scratch) as upstream):
        candidates = proxies("HTTP", upstream.port, arguments, NAMES)
        rows = {name: [] for name in candidates}
        for name, command in in_turn(candidates.items(), min(arguments.rounds, 7)):
            with Server(name, command, scratch) as running:
                rows[name].append(latencies(running.port, rate))
    for name, runs in rows.items():
        line = f"{name:16}"
        for which in (0, 1):
            for case in (0, 1, 2):
                line += f"{statistics.median(run[case][which] for run in runs):>11,.0f}"
        for case in (1, 2):
            added = [run[case][1] - run[0][1] for run in runs]
            shown = f"{statistics.median(added):,.0f} ({min(added):,.0f} to {max(added):,.0f})"
            line += f"{shown:>32}"
        print(line, flush=True)
