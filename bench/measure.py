"""Starts servers, loads them in turn, and prints the table: for bench/run.py."""

import contextlib
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import time
from pathlib import Path

import http_servers
from rounds import Ratio, in_turn

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / "build/release/bin"
TICK = os.sysconf("SC_CLK_TCK")
CORES = sorted(os.sched_getaffinity(0))
SERVER_CORE, LOAD_CORE = CORES[0], CORES[-1]


class Server:
    """A running server, ended when the block is left."""

    def __init__(self, name, command, scratch, files="/nonexistent", cores=1, workers=1, tls=None):
        self.name = name
        if command[0] in ("redis-server", "nginx"):
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.port = probe.getsockname()[1]
        if name == "redis-server":
            command = command + ["--port", str(self.port), "--dir", scratch]
        if command[0] == "nginx":
            command = http_servers.nginx(scratch, self.port, files, workers, tls)
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                        preexec_fn=lambda: os.sched_setaffinity(0, CORES[:cores]))
        if command[0] == "nginx":  # which says nothing
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


def on_load_core(yields=False):
    """What a process does before it becomes a load. With `yields`, other loads of the core run whenever they can."""
    def pin():
        os.sched_setaffinity(0, {LOAD_CORE})
        if yields:
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    return pin


def load(port, work, connections, depth, seconds, rate=0, yields=False):
    """As fast as the server answers, or `rate` batches a second. `yields`: see on_load_core()."""
    command = [str(BIN / "load"), str(port), work, str(connections), str(depth), str(seconds)]
    done = subprocess.run(command + ([str(rate)] if rate else []),
                          capture_output=True, text=True, timeout=seconds + 30,
                          preexec_fn=on_load_core(yields))
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
