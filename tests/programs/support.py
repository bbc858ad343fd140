"""Starts the programs under test on free ports of 127.0.0.1, and always ends them. Every test has a time limit."""

import faulthandler
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
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


class Program:
    def __init__(self, name, *arguments):
        self.command = [str(BIN / name), "--listen", "127.0.0.1:0", *arguments]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        found = re.fullmatch(r"listening on 127\.0\.0\.1:(\d+) \((io_uring|epoll)\)\n", line)
        if not found:
            self.process.kill()
            raise AssertionError(f"unexpected first line: {line!r}")
        self.port, self.backend = int(found.group(1)), found.group(2)
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
        self.process.stderr.close()


def run(*command, timeout=60, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, timeout=timeout, **options)


def serve_in_thread(server):
    """Runs a server of socketserver or http.server. Its shutdown() waits for up to 10 ms instead of half a second."""
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()


def skip_without(*names):
    import shutil
    missing = [n for n in names if not shutil.which(n)]
    if missing:
        print(f"skipped: {', '.join(missing)} not installed")
        sys.exit(77)


class Serve:
    """`gyre serve` on a directory. `lines` holds its output before it was ready."""

    def __init__(self, directory, *arguments, environment=None, output=None, before=(), listen="127.0.0.1:0"):
        self.command = [*map(str, before), str(BIN / "gyre"), "serve", str(directory), "--listen", listen,
                        *map(str, arguments)]
        self.environment = {**os.environ, **(environment or {})}
        self.output = output or subprocess.DEVNULL

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=self.output, stderr=subprocess.PIPE, text=True,
                                        env=self.environment)
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

    stop = Program.stop
    __exit__ = Program.__exit__


class Example:
    """A small server that prints its address on standard output."""

    def __init__(self, name, *arguments):
        self.command = [str(BIN / name), "--listen", "127.0.0.1:0", *map(str, arguments)]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.process.stdout.close()
        found = re.fullmatch(r"listening on https?://127\.0\.0\.1:(\d+)\n", line)
        if not found:
            self.process.kill()
            raise AssertionError(f"unexpected first line: {line!r}")
        self.port = int(found.group(1))
        return self

    stop = Program.stop
    __exit__ = Program.__exit__
