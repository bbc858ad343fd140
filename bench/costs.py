"""What a request and an idle connection cost, in figures that do not depend on the load of the machine: instructions,
system calls, resident bytes. For bench/run.py."""

import re
import resource
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from counting import FEW, HTTP, MANY, Client, in_epoll
from measure import load
from record import record
from servers import BIN, Server, servers

COMPILED_AT_RUN_TIME = ("Go net/http", "Node")  # callgrind cannot run them


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
    rounds = min(arguments.rounds, 3)
    rows = {}
    print(f"\nResident memory of an idle connection, {count} connections, {rounds} rounds\n{'':16}{'bytes':>8}")
    with tempfile.TemporaryDirectory() as scratch:
        for name, command in servers("echo", arguments.only).items():
            rows[name] = [idle_connection(name, command, scratch, count) for _ in range(rounds)]
            print(f"{name:16}{statistics.median(rows[name]):>8.0f}", flush=True)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    record("memory", "cost", f"Resident memory of an idle connection, {count:,} connections", "bytes", rows)


def idle_connection(name, command, scratch, count):
    with Server(name, command, scratch) as server:
        warm = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(100)]
        before = server.resident()
        idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(count)]
        idle[-1].sendall(b"x")
        idle[-1].recv(1)
        grown = server.resident() - before
        for each in warm + idle:
            each.close()
    return grown / count


def instructions(arguments):
    """Instructions of an HTTP request in user space, counted by callgrind on one connection."""
    if not shutil.which("valgrind"):
        print("instructions: valgrind is not installed")
        return
    rounds = min(arguments.rounds, 3)
    rows = {}
    print(f"\nInstructions of an HTTP request in user space, 1 connection, {rounds} rounds\n{'':16}{'median':>8}")
    with tempfile.TemporaryDirectory() as scratch:
        for name, command in servers("http", arguments.only).items():
            if name in COMPILED_AT_RUN_TIME or "io_uring" in name:  # valgrind knows no rings
                continue
            rows[name] = [instructions_of(name, command, Path(scratch)) for _ in range(rounds)]
            print(f"{name:16}{statistics.median(rows[name]):>8,.0f}", flush=True)
    record("instructions", "cost", "Instructions of an HTTP request in user space, 1 connection", "instructions", rows)


def instructions_of(name, command, scratch):
    program = next(word for word in command if not word.startswith("GYRE_") and word != "env")
    begins_at = command.index(program)
    if Path(program).parent == BIN:
        # Older versions of valgrind stop at the debug information of newer compilers.
        stripped = scratch / Path(program).name
        subprocess.run(["objcopy", "--strip-debug", program, str(stripped)], check=True)
        program = str(stripped)
    few, many = (counted(name, [program, *command[begins_at + 1:]], scratch, requests) for requests in (FEW, MANY))
    return (many - few) / (MANY - FEW)


def counted(name, command, scratch, requests):
    """All instructions of a server that answers so many requests."""
    for old in scratch.glob("counted.*"):
        old.unlink()
    traced = in_epoll(["valgrind", "--tool=callgrind", f"--callgrind-out-file={scratch}/counted.%p", *command])
    with Server(name, traced, scratch, cores=None) as server:
        client = Client(server.port, HTTP)
        client.ask(requests)
        client.peer.close()
    totals = [re.search(r"^(?:summary|totals): (\d+)", each.read_text(), re.M) for each in scratch.glob("counted.*")]
    if not all(totals):
        raise SystemExit(f"bench: callgrind was interrupted: {name}")
    return sum(int(total[1]) for total in totals)  # nginx has two processes
