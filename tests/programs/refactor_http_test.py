"""The HTTP pair of examples/refactor: the refactored program passes the tests that the original passes."""

import email.utils
import http.client
import os
import re
import resource
import signal
import socket
import tempfile
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from raw_http import exchange, exchange_at_once, read_all
from refactor_support import Server
from support import BIN, run, without_gyre


class HttpServerTests:
    @classmethod
    def setUpClass(cls):
        if not (BIN / cls.program).exists():
            raise unittest.SkipTest("there is no Asio")
        cls.outer = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.root = Path(cls.outer, "root")
        (cls.root / "below/deeper").mkdir(parents=True)
        cls.files = {"/index.html": b"<h1>hello</h1>\n", "/below/deeper/style.css": b"p { color: red }\n",
                     "/empty": b"",
                     "/below/index.html": b"below\n", "/a b.txt": b"blank\n", "/large": os.urandom(3_000_000),
                     "/huge": bytes(30_000_000)}  # more than the kernel buffers for a client that does not read
        for name, content in cls.files.items():
            Path(f"{cls.root}{name}").write_bytes(content)
        Path(cls.outer, "secret").write_text("secret")
        Path(cls.outer, "root_too").write_text("secret")
        (cls.root / "link").symlink_to("../secret")
        (cls.root / "up").symlink_to("..")
        (cls.root / "inside.css").symlink_to("below/deeper/style.css")
        os.mkfifo(cls.root / "pipe")

    def start(self, *arguments):
        return self.enterContext(Server(self.program, "--root", self.root, *arguments))

    def setUp(self):
        self.server = self.start()

    def connection(self):
        connection = self.server.connect()
        self.addCleanup(connection.close)
        return connection

    def get(self, target, method="GET", **fields):
        return self.server.request(method, target, **fields)

    def raw(self, request):
        return exchange(self.server.port, request)

    def test_index_html(self):
        status, headers, body = self.get("/")
        self.assertEqual((status, body), (200, self.files["/index.html"]))
        self.assertEqual((headers["Content-Type"], headers["Content-Length"]), ("text/html; charset=utf-8", "15"))
        self.assertLess(abs(email.utils.parsedate_to_datetime(headers["Date"]).timestamp() - time.time()), 60)
        self.assertEqual(self.get("/below/")[2], b"below\n")

    def test_files(self):
        for name, content in self.files.items():
            with self.subTest(name):
                status, headers, body = self.get(name.replace(" ", "%20") + "?query=/../x")
                self.assertEqual((status, body == content), (200, True))
        self.assertEqual(self.get("/below/deeper/style.css")[1]["Content-Type"], "text/css; charset=utf-8")
        self.assertEqual(self.get("/inside.css")[2], self.files["/below/deeper/style.css"])
        self.assertEqual(self.get(f"http://host{'/%62elow/'}")[2], b"below\n")

    def test_what_is_not_there(self):
        for target in ("/none", "/none/", "/below", "/below/deeper/", "/index.html/", "/empty/x", "/pipe", "/x" * 2000):
            with self.subTest(target):
                self.assertEqual(self.get(target)[0], 404)

    def test_nothing_outside_of_the_directory(self):
        for target in ("/../secret", "/..", "/../", "/below/../../secret", "/%2e%2e/secret", "/%2E%2E%2fsecret",
                       "/..%2fsecret",
                       "/below/%2e%2e/%2e%2e/secret", "//etc/passwd", "/%2fetc/passwd", "/link", "/up/secret", "/up/",
                       "/../root/index.html", "/../root_too", "/up/root_too", "/below/../index.html"):
            with self.subTest(target):
                status, _, body = self.get(target)
                self.assertEqual((status, b"secret" in body), (404, False))

    def test_requests_that_are_none(self):
        host = b"Host: a\r\n"
        for request in (b"nonsense\r\n", b"GET /\r\n" + host, b"GET  / HTTP/1.1\r\n" + host, 
                        b"GET / HTTP/2.0\r\n" + host,
                        b"GET / HTTP/1.1 \r\n" + host, b"G{T / HTTP/1.1\r\n" + host, 
                        b"GET index.html HTTP/1.1\r\n" + host,
                        b"GET /%zz HTTP/1.1\r\n" + host, b"GET /%0 HTTP/1.1\r\n" + host, 
                        b"GET /%00 HTTP/1.1\r\n" + host,
                        b"GET /a\tb HTTP/1.1\r\n" + host, b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\n" + host + host,
                        b"GET / HTTP/1.1\r\n" + host + b"a b: c\r\n", b"GET / HTTP/1.1\r\n" + host + b"name : c\r\n",
                        b"GET / HTTP/1.1\r\n" + host + b"nothing\r\n", b"GET / HTTP/1.1\r\n" + host + b" fold: x\r\n",
                        b"GET / HTTP/1.1\r\n" + host + b"a: b\nc\r\n", b"GET / HTTP/1.1\r\n" + host + b"a: b\0c\r\n",
                        b"\x16\x03\x01\x02\0\x01"):
            with self.subTest(request):
                answer = self.raw(request + b"\r\n\r\n" if request[0] == 22 else request + b"\r\n")
                self.assertEqual(answer.split(b"\r\n")[0], b"HTTP/1.1 400 Bad Request")
                self.assertIn(b"\r\nConnection: close\r\n", answer)

    def test_heads_that_are_too_long(self):
        for size in (8000, 100_000):
            answer = self.raw(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX: " + b"x" * size + b"\r\n\r\n")
            self.assertEqual(answer.split(b"\r\n")[0],
                             b"HTTP/1.1 200 OK" if size == 8000 else b"HTTP/1.1 400 Bad Request")
        self.assertEqual(self.raw(b"x" * 8192).split(b"\r\n")[0], b"HTTP/1.1 400 Bad Request")

    def test_other_methods(self):
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "HEAD", "BREW"):
            with self.subTest(method):
                body = b"x" * 100_000 if method in ("POST", "PUT") else None
                status, headers, _ = self.get("/", method, body=body)
                self.assertEqual((status, headers["Allow"]), (405, "GET"))
        answer = self.raw(b"HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        self.assertTrue(answer.endswith(b"\r\n\r\n") and b"Content-Length: 23\r\n" in answer, answer)

    def test_keep_alive(self):
        connection = self.connection()
        connection.connect()
        first = connection.sock
        for target, expected in (("/", 200), ("/none", 404), ("/large", 200), ("/", 405), ("/empty", 200)) * 3:
            connection.request("DELETE" if expected == 405 else "GET", target)
            answer = connection.getresponse()
            self.assertEqual((answer.status, answer.headers["Connection"]), (expected, None))
            answer.read()
            self.assertIs(connection.sock, first)

    def test_pipelined_requests(self):
        one = b"GET %s HTTP/1.1\r\nHost: a\r\n%s\r\n"
        answer = self.raw(one % (b"/below/", b"") + one % (b"/none", b"") + one % (b"/large", b"") +
                          one % (b"/", b"Connection: close\r\n") + one % (b"/never", b""))
        self.assertEqual(re.findall(rb"HTTP/1\.1 (\d+) ", answer.replace(self.files["/large"], b"")),
                         [b"200", b"404", b"200", b"200"])
        self.assertTrue(answer.endswith(self.files["/index.html"]))

    def test_the_client_may_have_said_all(self):
        with self.server.socket() as peer:
            answer = exchange_at_once(peer, b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
            self.assertTrue(answer.endswith(self.files["/large"]))
        with self.server.socket() as peer:
            self.assertEqual(exchange_at_once(peer, b"GET / HTTP/1.1\r\nHo"), b"")

    def test_the_last_request_of_a_connection(self):
        for request in (b"GET / HTTP/1.0\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nConnection: a, Close\r\n\r\n",
                        b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nGET /",
                        b"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"):
            with self.subTest(request):
                answer = self.raw(request)
                self.assertTrue(answer.startswith(b"HTTP/1.1 200 ") and answer.endswith(self.files["/index.html"]),
                                answer)
                self.assertIn(b"\r\nConnection: close\r\n", answer)

    def test_a_client_that_sends_byte_by_byte(self):
        with self.server.socket() as peer:
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for _ in range(2):
                for byte in b"\r\nGET /below/ HTTP/1.1\r\nHost: a\r\n\r\n":
                    peer.sendall(bytes([byte]))
                    time.sleep(0.001)
                answer = http.client.HTTPResponse(peer)
                answer.begin()
                self.assertEqual((answer.status, answer.read()), (200, b"below\n"))

    def test_clients_that_take_too_long(self):
        self.server = self.start("--idle", "0.4")
        with self.server.socket() as silent, self.server.socket() as slow, self.server.socket() as idle, \
                self.server.socket() as deaf, self.server.socket() as lingering:
            began = time.monotonic()
            deaf.sendall(b"GET /huge HTTP/1.1\r\nHost: a\r\n\r\n")
            slow.sendall(b"GET / HT")
            lingering.sendall(b"GET / HTTP/1.0\r\n\r\n")
            idle.sendall(b"GET /below/ HTTP/1.1\r\nHost: a\r\n\r\n")
            self.assertTrue(read_all(idle).endswith(b"below\n"))
            self.assertGreater(time.monotonic() - began, 0.35)
            self.assertEqual((read_all(silent), read_all(slow)), (b"", b""))
            self.assertTrue(read_all(lingering).endswith(self.files["/index.html"]))
            time.sleep(0.6)
            with self.assertRaises(OSError):  # nobody reads any more
                for _ in range(100):
                    lingering.sendall(b"x")
                    time.sleep(0.01)
            # The coroutine resets a connection whose answer was cut off; the socket of Asio just closes.
            self.assertLess(len(read_all(deaf, or_reset=True)), 30_000_000)
            self.assertLess(time.monotonic() - began, 10)
        self.assertEqual(self.server.end(), (0, ""))

    def test_a_busy_connection_is_not_idle(self):
        self.server = self.start("--idle", "1.5")
        connection = self.connection()
        for _ in range(4):
            time.sleep(0.45)
            connection.request("GET", "/")
            self.assertEqual(connection.getresponse().read(), self.files["/index.html"])

    def test_many_at_once(self):
        with ThreadPoolExecutor(50) as pool:
            answers = list(pool.map(lambda _: self.get("/large")[2] == self.files["/large"], range(100)))
        self.assertEqual(answers, [True] * 100)

    def test_out_of_descriptors(self):
        resource.prlimit(self.server.process.pid, resource.RLIMIT_NOFILE, (24, 24))
        peers = [self.server.socket() for _ in range(40)]
        time.sleep(0.2)
        for peer in peers:
            peer.close()
        until = time.monotonic() + 10
        while (status := self.get("/")[0]) == 503 and time.monotonic() < until:  # disconnects not yet noticed
            pass
        self.assertEqual(status, 200)
        self.assertEqual(self.server.end()[0], 0)

    def test_a_file_that_becomes_shorter_ends_only_its_connection(self):
        shrinking = self.root / "shrinking"
        shrinking.write_bytes(b"x" * 50_000_000)
        with self.server.socket() as peer:
            peer.sendall(b"GET /shrinking HTTP/1.1\r\nHost: a\r\n\r\n")
            self.assertEqual(peer.recv(8), b"HTTP/1.1")
            shrinking.write_bytes(b"short")
            self.assertLess(len(read_all(peer)), 50_000_000)
        self.assertEqual(self.get("/shrinking")[2], b"short")
        code, said = self.server.end()
        self.assertEqual((code, "Input/output error" in said), (0, True), said)

    def test_a_signal_ends_it_behind_the_answer_under_way(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            server = self.start()
            with server.socket() as idle, server.socket() as busy:
                busy.sendall(b"GET /huge HTTP/1.1\r\nHost: a\r\n\r\n")
                answer = busy.recv(8)
                server.process.send_signal(number)
                self.assertEqual(read_all(idle), b"")
                self.assertIsNone(server.process.poll())
                self.assertTrue((answer + read_all(busy)).endswith(self.files["/huge"]))
                self.assertEqual((server.process.wait(20), server.process.stderr.read()), (0, ""))

    def test_the_second_signal_ends_it_at_once(self):
        with self.server.socket() as peer:
            peer.sendall(b"GET /huge HTTP/1.1\r\nHost: a\r\n\r\n")
            peer.recv(8)
            self.server.process.terminate()
            self.server.wait_until_it_stops_accepting()
            self.assertIsNone(self.server.process.poll())
            self.assertIn(self.server.end()[0], (-signal.SIGTERM, 128 + signal.SIGTERM))

    def test_what_the_command_line_may_say(self):
        for arguments in (["--listen"], ["--listen", "1"], ["--idle", "0"], ["--idle", "x"], ["--other", "1"]):
            done = run(BIN / self.program, *arguments)
            self.assertEqual((done.returncode, b"usage:" in done.stderr), (2, True))
        for arguments in (["--root", "/none"], ["--listen", f"127.0.0.1:{self.server.port}"],
                          ["--listen", "a.b:1"]):
            self.assertEqual(run(BIN / self.program, *arguments).returncode, 1)


@without_gyre
class HttpServerCallback(HttpServerTests, unittest.TestCase):
    program = "http_server_callback"


class HttpServerCoroutine(HttpServerTests, unittest.TestCase):
    program = "http_server_coroutine"


if __name__ == "__main__":
    unittest.main()
