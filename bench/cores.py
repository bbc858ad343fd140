"""One loop or two: requests per second of the server's processor time, and messages between loops."""

import statistics
import subprocess
import tempfile

from measure import load
from rounds import Ratio, in_turn
from servers import BIN, BUILT, CORES, ROOT, TOKIO, Server, build_peers, gyre_program, nginx_files, there

CONNECTIONS = 64


def candidates(only):
    """name -> (command, cores)."""
    found = {}
    for cores in (1, 2):
        ours = gyre_program("hello_server", "--threads", cores)
        found |= {f"{name}, {cores}": command for name, command in ours.items()}
        found[f"hyper, tokio, {cores}"] = [str(TOKIO / "hyper_threads_http"), str(cores)]
        found[f"Boost.Beast, {cores}"] = [str(BIN / "beast_http"), str(cores)]
        found[f"uWebSockets, {cores}"] = [str(BIN / "uws_http"), str(cores)]
        found[f"Go net/http, {cores}"] = [str(BUILT / "go_http"), str(cores)]
        found[f"nginx, {cores}"] = nginx_files(workers=cores)
    return there(found, only)


def once(name, command, scratch, seconds, cores_of_server):
    with Server(name, command, scratch, cores=CORES[:cores_of_server]) as server:
        load(server.port, "http:/", CONNECTIONS, 1, 0.3)
        before = server.processor_time()
        result = load(server.port, "http:/", CONNECTIONS, 1, seconds)
        used = server.processor_time() - before
    return {"per_cpu": result["requests"] / (used / 1e9), "rate": result["requests"] / result["seconds"],
            "p99": result["p99_us"]}


def compare(found, arguments, cores_of_server, title):
    rows = {name: [] for name in found}
    with tempfile.TemporaryDirectory() as scratch:
        for name, command in in_turn(found.items(), arguments.rounds):
            rows[name].append(once(name, command, scratch, max(1, arguments.seconds), cores_of_server))
    print(f"\nHTTP hello, {CONNECTIONS} connections, {title}; the number of threads is behind the name\n"
          f"{'':22}{'requests/cpu s':>16}{'of one thread':>24}{'requests/s':>12}{'p99 us':>8}")
    for name in sorted(rows, key=lambda each: -statistics.median(run["per_cpu"] for run in rows[each])):
        middle = {key: statistics.median(run[key] for run in rows[name]) for key in rows[name][0]}
        alone = name[:-1] + "1"
        ratio = Ratio([run["per_cpu"] for run in rows[name]], [run["per_cpu"] for run in rows[alone]])
        print(f"{name:22}{middle['per_cpu']:>16,.0f}{str(ratio) if alone != name else '':>24}{middle['rate']:>12,.0f}"
              f"{middle['p99']:>8.0f}", flush=True)


def cores(arguments):
    """On its own core, the second thread costs what the threads share. On two cores, it also shares one with the load,
    is interrupted by it, and finds less work each time that it wakes."""
    build_peers()
    found = candidates(arguments.only)
    compare(found, arguments, 1, "the server has the first core")
    if len(CORES) > 1:
        compare(found, arguments, 2, "the server has two cores, the second one together with the load")
    print()
    for name in ("micro_loops", "micro_balance"):
        subprocess.run([str(BIN / name)], check=True, cwd=ROOT, timeout=120)
