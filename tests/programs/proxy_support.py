"""Starts `gyre proxy` for a test, and servers behind it."""

import http.client
import re
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from scripted import Scripted, read_head
from support import BIN


class Proxy:
    """`gyre proxy` on a free port."""

    def __init__(self, *servers, arguments=()):
        listen = () if "--listen" in arguments else ("--listen", "127.0.0.1:0")
        self.command = [str(BIN / "gyre"), "proxy", *listen, "--admin", "127.0.0.1:0", "--access-log", "off",
                        *arguments]
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
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        finally:
            self.process.kill()
            self.process.wait()
            self.errors.close()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(20)

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def socket(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def request(self, method, target, body=None, headers=None, **options):
        """Returns (status, headers, body)."""
        connection = self.connect()
        try:
            connection.request(method, target, body, headers or {}, **options)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def get(self, target):
        status, _, body = self.request("GET", target)
        return status, body

    def ask(self, method="GET", path="/", body=None, headers=None, port=None):
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=20)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def metric(self, name, server):
        text = self.ask(path="/metrics", port=self.admin)[2].decode()
        return int(re.search(rf'^{name}{{server="http://127\.0\.0\.1:{server}"}} (\d+)$', text, re.M).group(1))

    def wait_until_idle(self, server):
        """Waits until no request to this server runs. Fails after 20 s."""
        deadline = time.monotonic() + 20
        while self.metric("gyre_proxy_running", server):
            if time.monotonic() > deadline:
                raise AssertionError("requests go on running")
            time.sleep(0.01)


def ok(text, status="200 OK"):
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode()


def answering(text, status="200 OK"):
    def serve(peer, _):
        while read_head(peer):
            peer.sendall(ok(text, status))
    return Scripted(serve)
