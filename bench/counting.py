"""Counts instructions, allocations, system calls and bytes of the programs of gyre: for bench/budgets.py."""

import os
import re
import signal
import socket
import ssl
import subprocess
import time
from pathlib import Path

from servers import BIN, Server
from tls import make_certificate

# Requests of the two runs whose counts are subtracted, so that start and end drop out. Two starts may differ by 100,000
# instructions, which are 1 % of these requests.
FEW, MANY = 200, 6200
TRACED = 1000  # by strace
ALLOCATING = {"malloc", "calloc", "realloc", "memalign", "posix_memalign", "aligned_alloc"}
HTTP = b"GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n"
FILE = HTTP.replace(b"/ ", b"/small ", 1)
PING = b"*1\r\n$4\r\nPING\r\n"
ANY_CERTIFICATE = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
ANY_CERTIFICATE.check_hostname, ANY_CERTIFICATE.verify_mode = False, ssl.CERT_NONE


class Counted:
    """What is counted: servers, proxies and clients. name -> (command, request)."""

    def __init__(self, scratch, profile):
        self.scratch, self.profile = Path(scratch), profile
        files = self.scratch / "files"
        files.mkdir()
        (files / "small").write_bytes(b"x" * 1024)
        os.utime(files / "small", (1e9, 1e9))  # the tag of a new file changes after two seconds, and so does the size
        chain, key = make_certificate(scratch)
        listen = ["--listen", "127.0.0.1:0"]
        self.hello = [str(BIN / "hello_server"), *listen]
        https = [*self.hello, "--tls-cert", str(chain), "--tls-key", str(key)]
        proxy = [str(BIN / "gyre"), "proxy", *listen, "--access-log", "off", "--to", "http://127.0.0.1:{origin}"]
        resp = [str(BIN / "resp_server"), *listen]
        self.kinds = {"proxied_request": (proxy, HTTP), "https_hello": (https, HTTP),
                      "client_request": ([str(BIN / "counted_requests"), "{origin}"], None),
                      "static_file": ([str(BIN / "gyre"), "serve", str(files), *listen, "--access-log", "off"], FILE),
                      "http_hello": (self.hello, HTTP), "resp_ping": (resp, PING)}
        self.idle = {"http": (self.hello, HTTP, 1000), "https": (https, HTTP, 500), "resp": (resp, PING, 1000)}
        for program in {command[0] for command, _ in self.kinds.values()}:
            # Older versions of valgrind stop at the debug information of newer compilers. Names of functions remain.
            subprocess.run(["objcopy", "--strip-debug", program, self.stripped(program)], check=True)

    def stripped(self, program):
        return str(self.scratch / Path(program).name)

    def with_origin(self, name, act):
        """Calls act(command, request). The command has a hello server behind it when it needs one."""
        command, request = self.kinds[name]
        if not any("{origin}" in word for word in command):
            return act(command, request)
        with Server("origin", in_epoll(self.hello), self.scratch, cores=None) as origin:
            return act([word.replace("{origin}", str(origin.port)) for word in command], request)


def in_epoll(command):
    return ["env", "GYRE_BACKEND=epoll", *command]


class Client:
    """One connection. Each request is sent when the previous answer is complete, which has always the same size."""

    def __init__(self, port, request, encrypted=False):
        self.peer = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.request, self.size, self.asked = request, None, 0
        if encrypted:
            self.peer = ANY_CERTIFICATE.wrap_socket(self.peer)

    def ask(self, count=1):
        for _ in range(count):
            self.peer.sendall(self.request)
            received = b""
            while len(received) < (self.size or self.size_of(received)):
                piece = self.peer.recv(65_536)
                if not piece:
                    raise SystemExit(f"budgets: a server has closed a connection after {self.asked} requests: "
                                     f"{self.request}, {received[:100]}")
                received += piece
            if not received.startswith((b"HTTP/1.1 200 ", b"+PONG")):
                raise SystemExit(f"budgets: the server answers {received[:200]}")
            self.size, self.asked = len(received), self.asked + 1

    @staticmethod
    def size_of(answer):
        """The size of the whole answer, or more than there is when that is not known yet."""
        if answer.startswith(b"+"):
            return len(b"+PONG\r\n")
        head, end, _ = answer.partition(b"\r\n\r\n")
        length = re.search(rb"\r\ncontent-length: (\d+)", head, re.I)
        return len(head) + 4 + int(length[1]) if end and length else len(answer) + 1


def instructions(counted, name):
    """{NAME.instructions, NAME.allocations} of one request."""
    few, many = (counted.with_origin(name, lambda command, request, count=count: one_run(
        counted, name, command, request, count)) for count in (FEW, MANY))
    return {f"{name}.{what}": max(0, round((most - least) / (MANY - FEW), 2))
            for what, most, least in zip(("instructions", "allocations"), many, few)}


def one_run(counted, name, command, request, count):
    """(instructions, allocations) of a program that answers or makes so many requests."""
    result = Path(counted.profile or counted.scratch, f"{name}-{count}.callgrind")
    traced = in_epoll(["valgrind", "--tool=callgrind", f"--callgrind-out-file={result}", counted.stripped(command[0]),
                       *command[1:]])
    if request is None:
        subprocess.run([*traced, str(count)], check=True, capture_output=True, timeout=120)
    else:
        with Server(name, traced, counted.scratch, cores=None) as server:
            Client(server.port, request, "--tls-cert" in command).ask(count)
    return counts_in(result.read_text())


def counts_in(profile):
    """(instructions, allocations) of a profile of callgrind. A name is spelled out where it occurs first."""
    total = re.search(r"^(?:summary|totals): (\d+)", profile, re.M)
    if not total:
        raise SystemExit("budgets: callgrind was interrupted")
    names, allocations, allocates = {}, 0, False
    for line in profile.splitlines():
        if line.startswith(("fn=", "cfn=")):
            number, _, name = line.partition("=")[2].partition(" ")
            name = names.setdefault(number, name)
            allocates = line.startswith("c") and name.partition("'")[0] in ALLOCATING
        elif line.startswith("calls=") and allocates:
            allocations += int(line[6:].split()[0])
    return int(total[1]), allocations


def system_calls(counted, name, backend):
    return {f"{name}.calls_{backend}": round(counted.with_origin(
        name, lambda command, request: calls_of(counted, name, command, request, backend)), 2)}


def calls_of(counted, name, command, request, backend):
    log = counted.scratch / f"{name}-{backend}.strace"
    strace = ["strace", "-c", "-f", "-o", str(log)]
    if request is None:
        def run(count):
            subprocess.run([*strace, "env", f"GYRE_BACKEND={backend}", *command, str(count)], check=True, timeout=120,
                           capture_output=True)
            return calls_in(log)
        return (run(FEW + TRACED) - run(FEW)) / TRACED
    with Server(name, ["env", f"GYRE_BACKEND={backend}", *command], counted.scratch, cores=None) as server:
        client = Client(server.port, request, "--tls-cert" in command)
        client.ask(FEW)
        tracer = subprocess.Popen([*strace, "-p", str(server.process.pid)], stderr=subprocess.PIPE, text=True)
        if "attached" not in (said := tracer.stderr.readline()):
            raise SystemExit(f"budgets: strace: {said}")
        client.ask(TRACED)
        tracer.send_signal(signal.SIGINT)
        tracer.communicate(timeout=60)
    return calls_in(log) / TRACED


def calls_in(log):
    """All calls of the table that strace has written."""
    return int(re.search(r"^100.00\s.*\stotal$", log.read_text(), re.M)[0].split()[3])


def idle_bytes(counted, name, backend):
    """Bytes on the heap: unlike resident memory, they do not depend on what was there before, and was freed."""
    command, request, count = counted.idle[name]
    counter = counted.scratch / f"{name}-{backend}.heap"
    counter.write_bytes(bytes(8))
    preloaded = ["env", f"GYRE_BACKEND={backend}", f"LD_PRELOAD={BIN / 'libheap_counter.so'}",
                 f"GYRE_HEAP_COUNTER={counter}", *command]

    def settled():
        """A server over TLS lends buffers to connections until they have been idle for one to two seconds."""
        now, before = heap_in(counter), None
        while name == "https" and now != before:
            time.sleep(2.5)
            now, before = heap_in(counter), now
        return now

    with Server(name, preloaded, counted.scratch, cores=None) as server:
        clients = []

        def connect(number):
            for _ in range(number):
                clients.append(Client(server.port, request, name == "https"))
                clients[-1].ask()
            return settled()

        before = connect(100)
        grown = connect(count) - before
        for each in clients:
            each.peer.close()
    return {f"{name}.idle_bytes_{backend}": round(grown / count, 1)}


def heap_in(counter):
    return int.from_bytes(counter.read_bytes(), "little", signed=True)


def heap_bytes():
    done = subprocess.run([str(BIN / "micro_memory")], check=True, capture_output=True, text=True, timeout=60)
    return round(float(done.stdout.split("\t")[1]), 1)
