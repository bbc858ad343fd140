"""Starts the programs under test on free ports of 127.0.0.1, and always ends them. Every test has a time limit."""

import contextlib
import faulthandler
import http.client
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

BIN = Path(os.environ.get("GYRE_BIN_DIR", "build/release/bin"))
LONGEST_TEST = 500  # seconds; less than ctest allows for a whole script


def limited(run):
    """A test that hangs ends the script with "Timeout" and the place where it waits."""
    def run_in_time(test, result=None):
        faulthandler.dump_traceback_later(LONGEST_TEST, exit=True)
        try:
            return run(test, result)
        finally:
            faulthandler.cancel_dump_traceback_later()
    return run_in_time


unittest.TestCase.run = limited(unittest.TestCase.run)

# A program without gyre is the same on both backends.
without_gyre = unittest.skipIf(os.environ.get("GYRE_BACKEND") == "epoll", "the program has no backend: see io_uring")


def free_port():
    """Returns a port of 127.0.0.1 on which nothing listens. It is below those that the kernel gives to connections and
    to programs that ask for any port, so that none of the tests that run meanwhile gets it."""
    while True:
        port = random.randrange(10_000, 32_000)
        try:
            socket.create_server(("127.0.0.1", port)).close()
            return port
        except OSError:  # another program has it
            continue


def run(*command, timeout=60, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, timeout=timeout, **options)


def serve_in_thread(server):
    """Runs a server of socketserver or http.server. Its shutdown() waits for up to 10 ms instead of half a second."""
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()


def skip_without(*names):
    missing = [n for n in names if not shutil.which(n)]
    if missing:
        print(f"skipped: {', '.join(missing)} not installed")
        sys.exit(77)


def temporary_folder(test):
    """Returns the path of a directory that is removed after the test."""
    return Path(test.enterContext(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))


def request(port, method="GET", target="/", body=None, headers=None, timeout=60, **options):
    """Returns status, fields and body of one request on a new connection."""
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)) as connection:
        connection.request(method, target, body, headers or {}, **options)
        response = connection.getresponse()
        return response.status, response.headers, response.read()


def ask(port, path="/", method="GET", headers=None, body=None):
    return request(port, method, path, body, headers, timeout=20)


class Program:
    """A program that prints where it listens, on standard error or on standard output."""

    LISTENING = re.compile(r"(?:listening|echoing|serving) on (?:https?://)?127\.0\.0\.1:(\d+)"
                           r"(?: \((io_uring|epoll)\))?\n")

    def __init__(self, name, *arguments, listen=("--listen", "127.0.0.1:0"), output="stderr"):
        self.command = [str(part) for part in (BIN / name, *listen, *arguments)]
        self.output = output

    def __enter__(self):
        self.process = subprocess.Popen(self.command, text=True, stderr=subprocess.PIPE,
                                        stdout=subprocess.PIPE if self.output == "stdout" else None)
        line = getattr(self.process, self.output).readline()
        found = self.LISTENING.fullmatch(line)
        if not found:
            self.process.kill()
            self.__exit__()
            raise AssertionError(f"unexpected first line: {line!r}")
        self.port, self.backend = int(found[1]), found[2]
        return self

    def stop(self, number=signal.SIGTERM, timeout=20):
        """Sends a signal. Returns the exit code."""
        self.process.send_signal(number)
        return self.process.wait(timeout)

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for each in (self.process.stdout, self.process.stderr):
            if each:
                each.close()

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def socket(self, timeout=60):
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def request(self, method="GET", target="/", body=None, headers=None, **options):
        """Returns status, fields and body of one request on a new connection."""
        return request(self.port, method, target, body, headers, **options)

    def get(self, target="/", headers=None):
        return self.request("GET", target, headers=headers)[::2]

    def wait_until_it_stops_accepting(self, address=None):
        """Waits for the effect of a signal, at its port or at another of its addresses. A second signal before that
        would be merged with the first one. After SIGKILL the kernel closes the sockets of a ring in a worker, a little
        after the process has ended."""
        for _ in range(2000):
            with socket.socket(socket.AF_UNIX if isinstance(address, str) else socket.AF_INET) as attempt:
                attempt.settimeout(20)
                try:
                    attempt.connect(address or ("127.0.0.1", self.port))
                except OSError:
                    return
            time.sleep(0.01)
        raise AssertionError("it goes on accepting")


class Example(Program):
    """A small server that prints its address on standard output."""

    def __init__(self, name, *arguments, **options):
        super().__init__(name, *arguments, output="stdout", **options)


class Serve(Program):
    """`gyre serve` on a directory. `lines` holds its output before it was ready."""

    def __init__(self, directory, *arguments, environment=None, output=None, before=(), listen="127.0.0.1:0",
                 **options):
        super().__init__("gyre", "serve", directory, "--listen", listen, *arguments, listen=())
        self.command[:0] = map(str, before)
        self.options = {"env": {**os.environ, **(environment or {})}, "stdout": output or subprocess.DEVNULL, **options}

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stderr=subprocess.PIPE, text=True, **self.options)
        self.lines = []
        for line in self.process.stderr:
            found = re.match(r"listening on \S*:(\d+)$", line)
            if found:
                self.port = int(found.group(1))
                admin = re.search(r"admin +http://127\.0\.0\.1:(\d+)/", "".join(self.lines))
                self.admin = int(admin.group(1)) if admin else None
                return self
            self.lines.append(line)
        raise AssertionError(f"gyre serve did not start: {self.lines}")


class Proxy(Program):
    """`gyre proxy` on a free port."""

    def __init__(self, *servers, arguments=(), before=()):
        listen = () if "--listen" in arguments else ("--listen", "127.0.0.1:0")
        super().__init__("gyre", "proxy", *listen, "--admin", "127.0.0.1:0", "--access-log", "off", *arguments,
                         listen=())
        self.command[:0] = map(str, before)
        for each in servers:
            self.command += ["--to", each if isinstance(each, str) else f"http://127.0.0.1:{each}"]

    def __enter__(self):
        self.errors = tempfile.NamedTemporaryFile("w")
        self.process = subprocess.Popen(self.command, stderr=self.errors, text=True)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            text = self.said()
            found = re.search(r"^listening on \S*:(\d+)$", text, re.M)
            if found:
                self.port = int(found.group(1))
                self.admin = int(re.search(r"admin +http://127\.0\.0\.1:(\d+)/", text).group(1))
                return self
            time.sleep(0.01)
        raise AssertionError(f"gyre proxy did not start: {self.said()}")

    def said(self):
        return Path(self.errors.name).read_text()  # not by the program's own descriptor, whose place would move

    def __exit__(self, *_):
        super().__exit__()
        self.errors.close()

    def metric(self, name, server):
        text = ask(self.admin, "/metrics")[2].decode()
        return int(re.search(rf'^{name}{{server="http://127\.0\.0\.1:{server}"}} (\d+)$', text, re.M).group(1))

    def failures(self, server):
        return self.metric("gyre_proxy_failures_total", server)

    def wait_until_idle(self, server):
        """Waits until no request to this server runs. Fails after 20 s."""
        deadline = time.monotonic() + 20
        while self.metric("gyre_proxy_running", server):
            if time.monotonic() > deadline:
                raise AssertionError("requests go on running")
            time.sleep(0.01)
