"""Loads servers in turn, and prints the table: for bench/run.py."""

import json
import statistics
import subprocess

from record import record
from rounds import Ratio, in_turn
from servers import BIN, LOAD_CORE, Server, pinned_to, servers


def output_of(command, seconds=60, yields=False, codes=(0,)):
    """What a client prints, which runs on the core of the load. `yields`: see pinned_to(). `codes`: of its success."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=seconds + 120,
                          preexec_fn=pinned_to({LOAD_CORE}, yields))
    if done.returncode not in codes:
        raise SystemExit(f"bench: {command} failed: {done.stdout}{done.stderr}")
    return done.stdout


def load(port, work, connections, depth, seconds, rate=0, yields=False):
    """As fast as the server answers, or `rate` batches a second. Requests of HTTP come from `gyre load`, unless several
    are sent at once."""
    protocol, _, path = work.partition(":")
    if depth > 1 or not protocol.startswith("http"):
        return json.loads(output_of([BIN / "load", port, work, connections, depth, seconds] + ([rate] if rate else []),
                                    seconds, yields))
    flags = ["-c", connections, "-d", seconds, "--timeout", 60, "--insecure", "--json", *(["-r", rate] if rate else [])]
    command = [BIN / "gyre", "load", f"{protocol}://127.0.0.1:{port}{path}", *flags]
    shown = json.loads(output_of(command, seconds, codes=(0, 1)))  # 1: no request was finished in this time
    if shown["errors"] or set(shown["statuses"]) - {"200"}:
        raise SystemExit(f"bench: the server refuses {path}: {shown}")
    return {"requests": shown["responses"], "seconds": shown["seconds"], "p50_us": shown["latency_us"]["p50"],
            "p99_us": shown["latency_us"]["p99"]}


def measure(work, connections, depth, arguments, scratch, candidates=None):
    """name -> what each round showed."""
    candidates = candidates or servers(work.partition(":")[0], arguments.only)
    rows = {name: [] for name in candidates}
    for name, command in in_turn(candidates.items(), arguments.rounds):
        with Server(name, command, scratch) as server:
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
    record(title.lower().replace(",", "").replace(" ", "-"), "rate", title, "requests/s", rates)
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
