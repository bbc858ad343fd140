"""Servers that are mostly idle: processor time per request at fixed rates."""

import statistics
import tempfile

from measure import load
from rounds import in_turn
from servers import Server, build_peers, servers

RATES = (5_000, 20_000, 60_000)
CONNECTIONS = 64


def once(name, command, scratch, rate, seconds):
    with Server(name, command, scratch) as server:
        load(server.port, "http:/", CONNECTIONS, 1, 0.3, rate)
        before = server.processor_time()
        result = load(server.port, "http:/", CONNECTIONS, 1, seconds, rate)
        used = server.processor_time() - before
    return {"us": used / 1000 / result["requests"], "rate": result["requests"] / result["seconds"],
            "p50": result["p50_us"], "p99": result["p99_us"]}


def partial(arguments):
    build_peers()
    candidates = servers("http", arguments.only)
    with tempfile.TemporaryDirectory() as scratch:
        for rate in RATES:
            rows = {name: [] for name in candidates}
            for name, command in in_turn(candidates.items(), arguments.rounds):
                rows[name].append(once(name, command, scratch, rate, max(1, arguments.seconds)))
            middle = {name: {key: statistics.median(run[key] for run in runs) for key in runs[0]}
                      for name, runs in rows.items()}
            bare = [row["us"] for name, row in middle.items() if name.startswith("bare")]
            best = min(bare, default=min(row["us"] for row in middle.values()))
            print(f"\nHTTP hello, {CONNECTIONS} connections, {rate:,} requests a second\n"
                  f"{'':20}{'us a request':>14}{'of best bare':>14}{'requests/s':>12}{'p50 us':>8}{'p99 us':>8}")
            for name, row in sorted(middle.items(), key=lambda item: item[1]["us"]):
                print(f"{name:20}{row['us']:>14.2f}{row['us'] / best:>14.2f}{row['rate']:>12,.0f}{row['p50']:>8.0f}"
                      f"{row['p99']:>8.0f}", flush=True)
