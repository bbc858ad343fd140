"""Servers over TLS say which handshakes fail and why, on few lines, and count all of them."""

import re
import socket
import tempfile
import time
import unittest

from raw_http import read_all
from support import Example, Proxy, Serve, ask

LINE = re.compile(r"TLS handshake with 127\.0\.0\.1:(\d+) failed: (.*)\n")
PLAIN = "handshake failed: the client spoke HTTP without TLS"


def speak_plainly(port):
    """Sends a request without TLS. Returns the own port, when the server has ended the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as peer:
        peer.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        read_all(peer, or_reset=True)
        return str(peer.getsockname()[1])


def counted(admin):
    found = re.search(r"^tls_handshakes_failed_total (\d+)$", ask(admin, "/metrics")[2].decode(), re.M)
    return int(found[1]) if found else None


class FailedHandshakes(unittest.TestCase):
    def test_serve_prints_ten_of_them_and_counts_all_on_several_threads(self):
        with tempfile.TemporaryDirectory() as folder, Serve(folder, "--tls", "auto", "--threads", 2, "--admin",
                                                            "127.0.0.1:0") as server:
            self.assertEqual(counted(server.admin), 0)
            ports = [speak_plainly(server.port) for _ in range(25)]
            self.assertEqual(counted(server.admin), 25)
            self.assertEqual(server.stop(), 0)
            lines = server.process.stderr.readlines()
        found = [LINE.fullmatch(each) for each in lines[:10]]
        self.assertNotIn(None, found, lines)
        self.assertEqual({each[2] for each in found}, {PLAIN})
        self.assertLessEqual({each[1] for each in found}, set(ports))
        self.assertEqual(lines[10:], ["15 more TLS handshakes failed within the same minute\n"])

    def test_a_server_of_plain_http_counts_none(self):
        with tempfile.TemporaryDirectory() as folder, Serve(folder, "--admin", "127.0.0.1:0") as server:
            self.assertIsNone(counted(server.admin))

    def test_proxy_prints_and_counts_them(self):
        with Proxy("http://127.0.0.1:1", arguments=["--tls", "auto"]) as proxy:
            port = speak_plainly(proxy.port)
            self.assertEqual(counted(proxy.admin), 1)
            deadline = time.monotonic() + 20
            while not (found := LINE.search(proxy.said())) and time.monotonic() < deadline:
                time.sleep(0.01)
            self.assertEqual(found.groups(), (port, PLAIN))

    def test_hello_server_prints_them(self):
        with Example("hello_server", "--tls", "auto") as server:
            port = speak_plainly(server.port)
            line = next(line for line in server.process.stderr if line.startswith("TLS handshake "))
            self.assertEqual(LINE.fullmatch(line).groups(), (port, PLAIN))
            self.assertEqual(server.stop(), 0)


if __name__ == "__main__":
    unittest.main()
