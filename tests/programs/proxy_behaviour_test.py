"""gyre proxy between independent clients and servers, some of which are slow, wrong or hostile."""

import http.client
import json
import os
import re
import signal
import socket
import threading
import time
import unittest

from example_support import all_at_once, read_to_end
from proxy_support import Proxy, answering
from scripted import Scripted, read_head
from support import free_port, serve_in_thread
from upstream import Upstream


class Behaviour(unittest.TestCase):
    def setUp(self):
        self.upstream = Upstream(("127.0.0.1", 0), Upstream.Page)
        self.upstream.accepted = 0
        self.upstream.may_go_on = threading.Event()
        serve_in_thread(self.upstream)
        self.addCleanup(self.upstream.server_close)
        self.addCleanup(self.upstream.shutdown)
        self.addCleanup(self.upstream.may_go_on.set)
        self.proxy = self.start(f"127.0.0.1:{self.upstream.server_address[1]}")

    def start(self, upstream, *arguments):
        proxy = Proxy(f"http://{upstream}", arguments=arguments).__enter__()
        self.addCleanup(proxy.__exit__)
        return proxy

    def start_before(self, serve, *arguments):
        """A proxy for a server that calls `serve` with each connection, after the head of a request."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def accept():
            while True:
                try:
                    peer = listener.accept()[0]
                except OSError:
                    return
                with peer:
                    peer.settimeout(20)
                    received = b""
                    while b"\r\n\r\n" not in received and (part := peer.recv(65536)):
                        received += part
                    if received:
                        serve(peer)

        threading.Thread(target=accept, daemon=True).start()
        return self.start(f"127.0.0.1:{listener.getsockname()[1]}", *arguments)

    def test_fields_of_the_server_are_passed_on_and_fields_of_its_connection_are_not(self):
        status, headers, _ = self.proxy.request("GET", "/")
        self.assertEqual((status, headers.get_all("X-Mine"), headers["Via"], headers["Content-Type"]),
                         (200, ["a", "b"], "1.1 gyre", "application/json"))
        self.assertIsNone(headers["X-Hop"])
        self.assertEqual((headers.get_all("Connection"), headers.get_all("Keep-Alive")),
                         (["keep-alive"], ["timeout=75"]), "those of the proxy's own connection")

    def test_nothing_is_added_but_what_describes_the_client(self):
        with self.proxy.socket() as peer:
            peer.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            seen = json.loads(read_to_end(peer).split(b"\r\n\r\n", 1)[1])
        self.assertEqual(sorted(name for name, _ in seen["headers"]),
                         ["Forwarded", "Host", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"])

    def test_ends_with_success_with_an_idle_connection_to_the_server_behind_it(self):
        self.assertEqual(self.proxy.get("/")[0], 200)
        self.assertEqual(self.proxy.stop(), 0)

    def test_ends_with_success_behind_a_request_that_is_under_way(self):
        self.assertEqual(self.proxy.get("/")[0], 200)
        with self.proxy.socket() as peer:
            peer.sendall(b"GET /pieces HTTP/1.1\r\nHost: a\r\n\r\n")
            received = b""
            while b"piece" not in received:
                received += peer.recv(65536)
            self.proxy.process.send_signal(signal.SIGTERM)
            self.upstream.may_go_on.set()
            received += read_to_end(peer)
            self.assertEqual(received.count(b"piece"), 2)
            self.assertTrue(received.endswith(b"0\r\nX-Trailer: 1\r\n\r\n"), received)
        self.assertEqual(self.proxy.process.wait(20), 0)

    ABOUT_THE_CLIENT = {"X-Forwarded-For": "10.1.2.3", "X_Forwarded_For": "10.1.2.4",
                        "X.Forwarded.For": "10.1.2.7", "Forwarded": "for=10.1.2.5",
                        "X-Forwarded-Host": "bank", "x-forwarded-proto": "https", "X-Real-IP": "10.1.2.6"}

    def fields_seen_behind(self, proxy):
        seen = json.loads(proxy.request("GET", "/", headers=self.ABOUT_THE_CLIENT)[2])["headers"]
        wanted = {re.sub("[_.]", "-", name.lower()) for name in self.ABOUT_THE_CLIENT}
        return sorted((name, value) for name, value in seen if re.sub("[_.]", "-", name.lower()) in wanted)

    def test_a_client_cannot_lie_about_its_address(self):
        port = self.proxy.port
        self.assertEqual(self.fields_seen_behind(self.proxy), [
            ("Forwarded", f'for=127.0.0.1;proto=http;host="127.0.0.1:{port}"'), ("X-Forwarded-For", "127.0.0.1"),
            ("X-Forwarded-Host", f"127.0.0.1:{port}"), ("X-Forwarded-Proto", "http")])

    def test_options_and_trace_are_passed_on_by_no_more_than_they_say(self):
        for method, target, status in (("OPTIONS", "*", 204), ("OPTIONS", "/x", 204), ("TRACE", "/x", 501)):
            answer = self.proxy.request(method, target, headers={"Max-Forwards": "0"})
            self.assertEqual((answer[0], self.upstream.accepted), (status, 0), method)
        for method, given, left in (("OPTIONS", "2", ["1"]), ("TRACE", "1", ["0"]), ("OPTIONS", "many", []),
                                    ("GET", "0", [])):
            seen = json.loads(self.proxy.request(method, "/x", headers={"Max-Forwards": given})[2])
            self.assertEqual([value for name, value in seen["headers"] if name == "Max-Forwards"], left, method)

    def test_passes_on_large_bodies_both_ways(self):
        body = os.urandom(20_000_000)
        status, headers, echo = self.proxy.request("POST", "/", body)
        self.assertEqual((status, headers["X-Framing"], echo == body), (200, "sized", True))
        pieces = (body[i:i + 77_777] for i in range(0, len(body), 77_777))
        status, headers, echo = self.proxy.request("POST", "/", pieces, encode_chunked=True)
        self.assertEqual((status, headers["X-Framing"], echo == body), (200, "chunked", True))
        self.assertEqual(self.proxy.request("POST", "/", b"")[2], b"")
        self.assertEqual(self.proxy.request("POST", "/", iter([]), encode_chunked=True)[2], b"")

    def test_passes_on_a_response_while_it_comes(self):
        connection = self.proxy.connect()
        connection.request("GET", "/pieces")
        answer = connection.getresponse()
        self.assertEqual(answer.read(5), b"piece")  # the next piece has not been sent yet
        self.upstream.may_go_on.set()
        self.assertEqual(answer.read(), b"piece")
        connection.close()

    def test_passes_on_every_kind_of_body(self):
        self.assertEqual(self.proxy.get("/until_end"), (200, b"z" * 100_000))
        self.assertEqual(self.proxy.get("/empty"), (204, b""))
        length = self.proxy.request("GET", "/x")[1]["Content-Length"]
        status, headers, body = self.proxy.request("HEAD", "/x")
        self.assertEqual((status, body, abs(int(headers["Content-Length"]) - int(length)) < 10), (200, b"", True))

    def test_uses_its_connections_again(self):
        connection = self.proxy.connect()
        for _ in range(20):
            connection.request("GET", "/")
            self.assertEqual(connection.getresponse().read()[:1], b"{")
        connection.close()
        self.assertEqual(self.upstream.accepted, 1)

    def test_many_at_once(self):
        answers, seconds = all_at_once(40, lambda _: self.proxy.get("/sleep"))
        self.assertEqual(answers, [(200, b"slept")] * 40)
        self.assertLess(seconds, 8)  # one after another: 12 s

    def test_an_early_refusal_ends_the_upload(self):
        with self.proxy.socket() as peer:
            peer.sendall(b"POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n" + b"x" * 1000)
            answer = http.client.HTTPResponse(peer, method="POST")
            answer.begin()
            self.assertEqual((answer.status, answer.read(), answer.headers["Connection"]), (413, b"too much", "close"))

    def test_a_server_that_is_not_there(self):
        self.assertEqual(self.start(f"127.0.0.1:{free_port()}").get("/")[0], 502)

    def test_a_server_that_dies_or_talks_nonsense(self):
        for last_words in (b"", b"HTTP/1.1 200 OK\r\nConte", b"nonsense\r\n\r\n",
                           b"HTTP/1.1 101 Switch\r\nUpgrade: x\r\n\r\n",
                           b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"):
            with self.subTest(last_words):
                proxy = self.start_before(lambda peer: peer.sendall(last_words))
                self.assertEqual(proxy.get("/")[0], 502)
                self.assertEqual(proxy.request("POST", "/", b"x" * 3_000_000)[0], 502)

    def test_a_server_that_dies_in_the_middle(self):
        for head in (b"Content-Length: 100", b"Transfer-Encoding: chunked"):
            answer = b"HTTP/1.1 200 OK\r\n" + head + b"\r\n\r\n4\r\nabcd\r\n"
            proxy = self.start_before(lambda peer: peer.sendall(answer))
            with self.assertRaises((http.client.IncompleteRead, ConnectionResetError)):
                proxy.get("/")

    def test_a_server_that_closes_idle_connections(self):
        proxy = self.start_before(lambda peer: peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
        for _ in range(5):
            self.assertEqual(proxy.get("/"), (200, b"ok"))

    def unasked_for(self, unasked):
        """Sends two requests. After the first response the server sends unsolicited data. Returns the second
        response."""
        sent, connections = threading.Event(), []

        def serve(peer):
            connections.append(peer)
            if len(connections) > 1:
                return peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nown")
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst")
            answered.wait(20)
            peer.sendall(unasked)
            sent.set()
            peer.recv(1)

        answered = threading.Event()
        proxy = self.start_before(serve)
        first = proxy.get("/")
        answered.set()
        self.assertEqual(first, (200, b"first"))
        self.assertTrue(sent.wait(20))
        return proxy.get("/")

    def test_bytes_that_nobody_asked_for_are_nobodys_response(self):
        for unasked in (b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret",
                        b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", b"x"):
            with self.subTest(unasked=unasked):
                self.assertEqual(self.unasked_for(unasked), (200, b"own"))

    def test_a_server_that_is_silent(self):
        silent = threading.Event()
        self.addCleanup(silent.set)
        proxy = self.start_before(lambda peer: silent.wait(20), "--timeout", "0.3")
        self.assertEqual(proxy.get("/")[0], 504)

    def test_a_slow_client_is_not_a_slow_server(self):
        proxy = self.start(f"127.0.0.1:{self.upstream.server_address[1]}", "--timeout", "0.5")

        def pieces():
            for _ in range(4):
                time.sleep(0.25)
                yield b"abc"
            time.sleep(0.8)

        self.assertEqual(proxy.request("POST", "/", pieces(), encode_chunked=True)[2], b"abc" * 4)

    def test_a_client_that_leaves_ends_the_request_behind(self):
        ended = threading.Event()

        def wait_for_the_end(peer):
            if peer.recv(1) == b"":
                ended.set()

        proxy = self.start_before(wait_for_the_end)
        with proxy.socket() as peer:
            peer.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            time.sleep(0.1)
        self.assertTrue(ended.wait(10))

    def test_a_download_that_began_before_a_pause_does_not_end_it(self):
        finish = threading.Event()
        self.addCleanup(finish.set)

        def serve(peer, number):
            read_head(peer)
            if number == 0:
                peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nlong")
                finish.wait(20)
                peer.sendall(b"last")

        with Scripted(serve) as a, answering("b") as b:
            with Proxy(a.port, b.port, arguments=["--max-fails", "1", "--fail-timeout", "100"]) as proxy:
                download = proxy.connect()
                download.request("GET", "/")
                answer = download.getresponse()
                self.assertEqual(answer.read(4), b"long")
                while proxy.metric("gyre_proxy_failures_total", a.port) == 0:
                    self.assertEqual(proxy.get("/"), (200, b"b"))
                finish.set()
                self.assertEqual(answer.read(), b"last")
                download.close()
                proxy.wait_until_idle(a.port)
                self.assertEqual({proxy.get("/") for _ in range(4)}, {(200, b"b")})
                self.assertEqual(proxy.metric("gyre_proxy_up", a.port), 0)
                self.assertEqual(proxy.metric("gyre_proxy_failures_total", a.port), 1)

    def test_a_signal_ends_it_behind_the_request_under_way(self):
        connection = self.proxy.connect()
        connection.request("GET", "/empty")
        connection.getresponse().read()
        connection.request("GET", "/sleep")
        self.proxy.process.send_signal(signal.SIGTERM)
        answer = connection.getresponse()
        self.assertEqual((answer.status, answer.read()), (200, b"slept"))
        self.assertEqual(self.proxy.process.wait(20), 0)


if __name__ == "__main__":
    unittest.main()
