"""Attackers of gyre serve and hello_server, the well-behaved clients beside them, and the cost for the server."""

import contextlib
import os
import re
import socket
import threading
import time
import unittest
from pathlib import Path

from raw_http import reset
from support import Serve, temporary_folder

LIMIT = 2  # seconds: the time-outs of the servers in the slow attacks


def connect(port, receive_buffer=None, timeout=30):
    peer = socket.socket()
    peer.settimeout(timeout)
    if receive_buffer:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        peer.connect(("127.0.0.1", port))
    except OSError:
        peer.close()
        raise
    return peer


def read_response(reader):
    """Returns status, fields (lower case) and body of the next response, or None at the end."""
    line = reader.readline()
    if not line:
        return None
    found = re.fullmatch(rb"HTTP/1\.1 (\d{3}) [^\r\n]*\r\n", line)
    assert found, line
    fields = {}
    while (line := reader.readline()) != b"\r\n":
        assert line.endswith(b"\r\n"), line
        name, value = line[:-2].split(b": ", 1)
        fields[name.lower().decode()] = value.decode()
    length = int(fields.get("content-length", 0))
    body = reader.read(length)
    assert len(body) == length, (fields, len(body))
    return int(found.group(1)), fields, body


def get(path, more=""):
    return f"GET {path} HTTP/1.1\r\nHost: a\r\n{more}\r\n".encode()


def descriptors(server):
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


def named_descriptors(server):
    there = f"/proc/{server.process.pid}/fd"
    return [os.readlink(f"{there}/{each}") for each in os.listdir(there)]


def resident(server):
    return int(re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{server.process.pid}/status").read_text()).group(1)) * 1024


def peak(server):
    return int(re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{server.process.pid}/status").read_text()).group(1)) * 1024


def processor_seconds(server):
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_until(holds, seconds):
    """Polls a condition of the server that it does not report. Returns whether it holds in time."""
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.02)
    return holds()


class Bystanders:
    """Well-behaved clients during an attack: each with its own connection, and one that reconnects for each request."""

    def __init__(self, test, port, path, content, what):
        self.test, self.port, self.path, self.content, self.what = test, port, path, content, what

    def __enter__(self):
        self.stopping, self.failures, self.seconds = threading.Event(), [], []
        self.threads = [threading.Thread(target=self.ask, args=(i == 0,)) for i in range(3)]
        for each in self.threads:
            each.start()
        return self

    def ask(self, reconnects):
        peer = None
        try:
            while not self.stopping.wait(0.01):
                began = time.monotonic()
                if peer is None or reconnects:
                    if peer:
                        reader.close()
                        reset(peer)
                    peer = connect(self.port)
                    reader = peer.makefile("rb")
                peer.sendall(get(self.path))
                answer = read_response(reader)
                self.seconds.append(time.monotonic() - began)
                if answer is None or answer[0] != 200 or answer[2] != self.content:
                    self.failures.append(answer)
                    return
        except Exception as error:  # any exception means that an answer is missing
            self.failures.append(error)
        finally:
            if peer:
                reader.close()
                peer.close()

    def __exit__(self, kind, *_):
        self.stopping.set()
        for each in self.threads:
            each.join(40)
        if kind:
            return
        self.test.assertEqual(self.failures, [], self.what)
        self.test.assertTrue(self.seconds, self.what)
        spent = sorted(1000 * each for each in self.seconds)
        print(f"\n  beside {self.what}: {len(spent)} answers, median {spent[len(spent) // 2]:.2f} ms, "
              f"99 % {spent[len(spent) * 99 // 100]:.2f} ms, longest {spent[-1]:.2f} ms", flush=True)


class Attack(unittest.TestCase):
    def setUp(self):
        self.scratch = temporary_folder(self)
        self.root, self.uploads = self.scratch / "root", self.scratch / "uploads"
        self.root.mkdir()
        self.uploads.mkdir()
        self.small = b"small\n" * 100
        (self.root / "small.txt").write_bytes(self.small)
        with open(self.root / "large", "wb") as large:
            large.write(os.urandom(1 << 20) * 32)

    def serve(self, *arguments):
        return self.enterContext(Serve(self.root, "--allow-host", "a", "--access-log", "off", "--upload", self.uploads,
                                       *arguments))

    def serve_impatiently(self, *arguments):
        return self.serve("--header-timeout", LIMIT, "--body-timeout", LIMIT, "--write-timeout", LIMIT, *arguments)

    def beside(self, server, what):
        return Bystanders(self, server.port, "/small.txt", self.small, what)

    @contextlib.contextmanager
    def assertNoDescriptorLeft(self, server, peers):
        """Expects that the server closes the descriptors of these connections once they have been closed."""
        self.assertTrue(wait_until(lambda: descriptors(server) >= len(peers), 10))
        before = descriptors(server) - len(peers)
        yield
        for each in peers:
            each.close()
        self.assertTrue(wait_until(lambda: descriptors(server) <= before, 10))

    def ends_quietly(self, server):
        """Expects exit code 0 and no messages on standard error."""
        self.assertEqual(server.stop(), 0)
        self.assertEqual(server.process.stderr.read(), "")
