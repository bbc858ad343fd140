"""HTTP clients on one core, each with connections that are kept: for bench/run.py. The server is the bare epoll loop,
on another core, which is faster than all of them."""

import json
import tempfile

from measure import output_of
from rounds import Ratio, in_turn
from servers import BIN, BUILT, TOKIO, Server, build_peers, on_each_backend, there

CONNECTIONS = 64


def clients(only):
    return there({**on_each_backend(BIN / "gyre_requests"), "hyper": [str(TOKIO / "hyper_requests")],
                  "Go net/http": [str(BUILT / "go_requests")], "libcurl multi": [str(BIN / "curl_requests")]}, only)


def once(command, port, seconds):
    return json.loads(output_of([*command, port, CONNECTIONS, seconds], seconds).splitlines()[-1])


def client(arguments):
    build_peers()
    everybody = clients(arguments.only)
    rows = {name: [] for name in everybody}
    with tempfile.TemporaryDirectory() as scratch:
        server_command = [str(BIN / "bare_epoll_http"), "--listen", "127.0.0.1:0"]
        with Server("bare epoll", server_command, scratch) as server:
            for name, command in in_turn(everybody.items(), arguments.rounds):
                rows[name].append(once(command, server.port, arguments.seconds))
    base = rows.get("hyper") or next(iter(rows.values()))

    def per_cpu_second(run):
        return run["requests"] / (run["user"] + run["system"])

    print(f"\nGET, {CONNECTIONS} connections that are kept\n{'':16}{'requests/s':>12}{'per CPU second':>16}"
          f"{'to hyper':>24}{'user us':>10}{'system us':>11}")
    for name, runs in rows.items():
        middle = sorted(runs, key=per_cpu_second)[len(runs) // 2]
        ratio = Ratio([per_cpu_second(run) for run in runs], [per_cpu_second(run) for run in base])
        user, system = (middle[each] / middle["requests"] * 1e6 for each in ("user", "system"))
        print(f"{name:16}{middle['requests'] / middle['seconds']:>12,.0f}{per_cpu_second(middle):>16,.0f}"
              f"{str(ratio):>24}{user:>10.2f}{system:>11.2f}", flush=True)
