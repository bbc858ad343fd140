"""gyre proxy: trailers, interim responses, and responses that break."""

import socket
import threading
import unittest

from proxy_support import Proxy, answering
from scripted import Scripted, read_head

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
TRAILERS = b"4\r\nbody\r\n0\r\nChecksum: 7\r\nchecksum: 8\r\n\r\n"


def read_until(peer, end, text=b""):
    while end not in text:
        piece = peer.recv(65536)
        if not piece:
            raise OSError(f"the connection has ended after {text}")
        text += piece
    return text


def exchange(proxy, request):
    """Returns everything that the proxy sends until it closes the connection."""
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=20) as peer:
        peer.sendall(request)
        text = b""
        while piece := peer.recv(65536):
            text += piece
        return text


def saying(answer, seen=None):
    """A server that reads the head of one request, sends these bytes, and closes."""
    def serve(peer, _):
        head = read_head(peer)
        if seen is not None:
            seen.append(head)
        peer.sendall(answer)
    return Scripted(serve)


GET = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"


class ResponseTrailers(unittest.TestCase):
    def response(self, answer, request=GET):
        with saying(answer) as server, Proxy(server.port) as proxy:
            return exchange(proxy, request).split(b"\r\n\r\n", 1)

    def test_the_trailers_of_a_chunked_response_reach_the_client(self):
        head, body = self.response(CHUNKED + b"Trailer: Checksum\r\n\r\n" + TRAILERS)
        self.assertEqual(body, TRAILERS)
        self.assertIn(b"\r\nTrailer: Checksum\r\n", head + b"\r\n")

    def test_fields_that_may_not_be_trailers_are_dropped_and_not_announced(self):
        names = ("Content-Length", "transfer-encoding", "Host", "Trailer", "Connection", "X-Hop", "Content-Encoding",
                 "Set-Cookie", "Location", "Content-Type", "Cache-Control", "Keep-Alive", "Upgrade", "Content_Length",
                 "Transfer_Encoding", "set.cookie", "Content~Type")
        section = "".join(f"{name}: 1\r\n" for name in names).encode()
        head, body = self.response(CHUNKED + b"Connection: X-Hop\r\nTrailer: Host, X-Hop, Checksum, Content-Length\r\n"
                                   b"\r\n4\r\nbody\r\n0\r\n" + section + b"Checksum: 7\r\n\r\n")
        self.assertEqual(body, b"4\r\nbody\r\n0\r\nChecksum: 7\r\n\r\n")
        self.assertIn(b"\r\nTrailer: Checksum\r\n", head + b"\r\n")

    def test_a_client_of_http_1_0_gets_the_body_alone(self):
        head, body = self.response(CHUNKED + b"Trailer: Checksum\r\n\r\n" + TRAILERS, b"GET / HTTP/1.0\r\n\r\n")
        self.assertEqual(body, b"body")
        self.assertNotIn(b"Trailer", head)


class RequestTrailers(unittest.TestCase):
    def request(self, fields, section, arguments=()):
        """Returns the head and the body that the server receives, chunks included."""
        received = []

        def serve(peer, _):
            received.append(read_until(peer, b"\r\n\r\n"))
            received.append(read_until(peer, b"0\r\n", received[0]))
            received.append(read_until(peer, b"Last: 1\r\n\r\n", received[1]))
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")

        with Scripted(serve) as server, Proxy(server.port, arguments=arguments) as proxy:
            answer = exchange(proxy, b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close, X-Hop\r\n" + fields +
                              b"Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n" + section + b"Last: 1\r\n\r\n")
            self.assertTrue(answer.endswith(b"\r\n\r\nok"), answer)
            return received[-1].split(b"\r\n\r\n", 1)

    def test_the_trailers_of_a_chunked_request_reach_the_server(self):
        head, body = self.request(b"Trailer: Checksum, Last\r\n", b"Checksum: 7\r\n")
        self.assertEqual(body, b"4\r\nbody\r\n0\r\nChecksum: 7\r\nLast: 1\r\n\r\n")
        self.assertIn(b"\r\nTrailer: Checksum, Last\r\n", head + b"\r\n")

    def test_fields_that_may_not_be_trailers_are_dropped_and_not_announced(self):
        section = b"".join(name + b": 1\r\n" for name in (
            b"Content-Length", b"Transfer-Encoding", b"Host", b"X-Hop", b"Authorization", b"If-Match", b"Range",
            b"X-Forwarded-For", b"X_Real_IP", b"Forwarded", b"Via", b"Expect", b"TE", b"Cookie", b"Content_Length",
            b"Transfer_Encoding", b"X.Forwarded.For", b"if_match", b"If.X"))
        head, body = self.request(b"Trailer: Host, X-Hop, X-Forwarded-For\r\n", section)
        self.assertEqual(body, b"4\r\nbody\r\n0\r\nLast: 1\r\n\r\n")
        self.assertNotIn(b"Trailer", head)

    def test_a_client_that_takes_trailers_is_named_to_the_server(self):
        for given, passed_on in ((b"TE: gzip;q=0.5, Trailers\r\n", True), (b"TE: gzip\r\n", False), (b"", False)):
            with self.subTest(given):
                seen = []
                with saying(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", seen) as server:
                    with Proxy(server.port) as proxy:
                        exchange(proxy, b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close, TE\r\n" + given + b"\r\n")
                self.assertEqual("\r\nTE: trailers\r\n" in seen[0], passed_on, seen)
                self.assertEqual("\r\nConnection: TE\r\n" in seen[0], passed_on, seen)
                self.assertNotIn("gzip", seen[0])


HINT = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nLink: </b>\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"


class Hints(unittest.TestCase):
    def test_a_hint_reaches_the_client_before_the_server_has_answered(self):
        seen = threading.Event()
        self.addCleanup(seen.set)

        def serve(peer, _):
            read_head(peer)
            peer.sendall(HINT)
            seen.wait(20)
            peer.sendall(OK)

        with Scripted(serve) as server, Proxy(server.port) as proxy:
            with socket.create_connection(("127.0.0.1", proxy.port), timeout=20) as peer:
                peer.sendall(GET)
                self.assertEqual(read_until(peer, b"\r\n\r\n"), HINT)
                seen.set()
                rest = read_until(peer, b"\r\n\r\nok")
                self.assertTrue(rest.startswith(b"HTTP/1.1 200 OK\r\n"), rest)

    def test_every_interim_response_but_100_is_passed_on_without_fields_of_the_connection(self):
        answer = (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\nConnection: X-Hop\r\nX-Hop: 1\r\n"
                  b"Content-Length: 3\r\nKeep-Alive: 1\r\n\r\n" + HINT + b"HTTP/1.1 199 Mine\r\n\r\n" + OK)
        with saying(answer) as server, Proxy(server.port) as proxy:
            *hints, head, body = exchange(proxy, GET).split(b"\r\n\r\n")
        self.assertEqual([b"HTTP/1.1 102 Processing", HINT[:-4]], hints[:2])
        self.assertTrue(hints[2].startswith(b"HTTP/1.1 199 "), hints)
        self.assertTrue(head.startswith(b"HTTP/1.1 200 OK\r\n"), head)
        self.assertEqual((len(hints), body), (3, b"ok"))

    def test_a_client_of_http_1_0_gets_no_hints(self):
        with saying(HINT + OK) as server, Proxy(server.port) as proxy:
            answer = exchange(proxy, b"GET / HTTP/1.0\r\n\r\n")
        self.assertTrue(answer.startswith(b"HTTP/1.1 200 OK\r\n"), answer)
        self.assertTrue(answer.endswith(b"\r\n\r\nok"), answer)

    def test_a_client_that_waits_for_100_gets_it_and_the_hints(self):
        def serve(peer, _):
            head = read_head(peer).encode()
            peer.sendall(HINT)
            read_until(peer, b"body", head.partition(b"\r\n\r\n")[2])
            peer.sendall(OK)

        with Scripted(serve) as server, Proxy(server.port) as proxy:
            with socket.create_connection(("127.0.0.1", proxy.port), timeout=20) as peer:
                peer.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 4\r\n"
                             b"Expect: 100-continue\r\n\r\n")
                go_on = b"HTTP/1.1 100 Continue\r\n\r\n"
                before = b""
                while len(before) < len(HINT) + len(go_on):
                    before += read_until(peer, b"\r\n\r\n")
                self.assertIn(before, (HINT + go_on, go_on + HINT))
                peer.sendall(b"body")
                self.assertTrue(read_until(peer, b"\r\n\r\nok").startswith(b"HTTP/1.1 200 OK\r\n"))


class Broken(unittest.TestCase):
    MALFORMED = (CHUNKED + b"\r\nzz\r\n", CHUNKED + b"\r\n4\r\nbody\r\n-1\r\n", CHUNKED + b"\r\n1\r\nbody\r\n")
    CUT_OFF = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nbody"

    def test_chunks_that_are_malformed_when_the_head_comes_are_answered_with_502(self):
        for answer in self.MALFORMED:
            with self.subTest(answer), saying(answer) as server, Proxy(server.port) as proxy:
                for method in (b"GET", b"POST"):
                    got = exchange(proxy, GET.replace(b"GET", method))
                    self.assertTrue(got.startswith(b"HTTP/1.1 502 "), got)
                self.assertEqual(proxy.metric("gyre_proxy_failures_total", server.port), 2)

    def test_chunks_that_become_malformed_cut_off_the_response_that_has_begun(self):
        for rest in (b"zz\r\n", b"-1\r\n", b"5\r\nbody\r\n\r\n", b"0\r\nno trailer\r\n\r\n", b"0\r\nA: 1\rB: 2\r\n\r\n",
                     b"ffffffffffffffff1\r\n"):
            seen = threading.Event()

            def serve(peer, _):
                read_head(peer)
                peer.sendall(CHUNKED + b"\r\n4\r\nbody\r\n")
                seen.wait(20)
                peer.sendall(rest)
                peer.recv(1)  # until the proxy closes the connection

            with self.subTest(rest), Scripted(serve) as server, Proxy(server.port) as proxy:
                with socket.create_connection(("127.0.0.1", proxy.port), timeout=20) as peer:
                    peer.sendall(GET.replace(b"Connection: close\r\n", b""))
                    text = read_until(peer, b"4\r\nbody\r\n")
                    seen.set()
                    try:
                        while piece := peer.recv(65536):
                            text += piece
                    except ConnectionResetError:
                        pass
                self.assertNotIn(b"\r\n0\r\n", text)
                self.assertEqual(proxy.metric("gyre_proxy_failures_total", server.port), 1)
                self.assertIn(f"GET http://127.0.0.1:{server.port}/: ", proxy.said())

    def test_a_request_that_may_be_repeated_goes_to_another_server_after_malformed_chunks(self):
        with saying(self.MALFORMED[0]) as bad, answering("b") as b:
            with Proxy(bad.port, b.port, arguments=["--max-fails", "1000"]) as proxy:
                self.assertEqual({proxy.get("/") for _ in range(4)}, {(200, b"b")})

    def broken_bodies(self, proxy, count):
        for _ in range(count):
            try:
                exchange(proxy, GET)
            except ConnectionResetError:
                pass

    def test_a_body_that_breaks_is_a_failure_of_the_server(self):
        with saying(self.CUT_OFF) as server, Proxy(server.port, arguments=["--max-fails", "2"]) as proxy:
            self.broken_bodies(proxy, 1)
            self.assertEqual(proxy.metric("gyre_proxy_failures_total", server.port), 1)
            self.assertEqual(proxy.metric("gyre_proxy_up", server.port), 1)
            self.broken_bodies(proxy, 2)
            self.assertEqual(proxy.metric("gyre_proxy_up", server.port), 0)

    def test_a_body_that_is_whole_ends_a_row_of_failures(self):
        bodies = iter((self.CUT_OFF, OK, self.CUT_OFF, TRAILERS, self.CUT_OFF))

        def serve(peer, _):
            read_head(peer)
            body = next(bodies, b"")
            peer.sendall(CHUNKED + b"\r\n" + body if body == TRAILERS else body)

        with Scripted(serve) as server, Proxy(server.port, arguments=["--max-fails", "2"]) as proxy:
            self.broken_bodies(proxy, 5)
            self.assertEqual(proxy.metric("gyre_proxy_failures_total", server.port), 3)
            self.assertEqual(exchange(proxy, GET)[:12], b"HTTP/1.1 502")  # the second in a row
            self.assertEqual(proxy.metric("gyre_proxy_up", server.port), 1)  # as it was when the request came
            self.assertEqual(exchange(proxy, GET)[:12], b"HTTP/1.1 502")
            self.assertEqual(proxy.metric("gyre_proxy_up", server.port), 0)

    def test_a_client_that_leaves_is_no_failure_of_the_server(self):
        def serve(peer, _):
            read_head(peer)
            peer.sendall(CHUNKED + b"\r\n4\r\nbody\r\n")
            peer.recv(1)  # until the proxy closes the connection

        with Scripted(serve) as server, Proxy(server.port, arguments=["--max-fails", "1"]) as proxy:
            with socket.create_connection(("127.0.0.1", proxy.port), timeout=20) as peer:
                peer.sendall(GET)
                read_until(peer, b"body")
            proxy.wait_until_idle(server.port)
            self.assertEqual(proxy.metric("gyre_proxy_failures_total", server.port), 0)
            self.assertEqual(proxy.metric("gyre_proxy_up", server.port), 1)

    def test_a_body_that_the_client_leaves_ends_a_row_of_failures(self):
        streams = CHUNKED + b"\r\n4\r\nbody\r\n"
        bodies = iter((self.CUT_OFF, streams))

        def serve(peer, _):
            read_head(peer)
            body = next(bodies, self.CUT_OFF)
            peer.sendall(body)
            if body == streams:
                peer.recv(1)  # until the proxy closes the connection

        with Scripted(serve) as server, Proxy(server.port, arguments=["--max-fails", "2"]) as proxy:
            self.broken_bodies(proxy, 1)
            with socket.create_connection(("127.0.0.1", proxy.port), timeout=20) as peer:
                peer.sendall(GET)
                read_until(peer, b"body")
            proxy.wait_until_idle(server.port)
            self.broken_bodies(proxy, 2)
            self.assertEqual(proxy.metric("gyre_proxy_failures_total", server.port), 3)
            self.assertEqual(proxy.metric("gyre_proxy_up", server.port), 1)  # as it was when the last request came
            self.broken_bodies(proxy, 1)
            self.assertEqual(proxy.metric("gyre_proxy_up", server.port), 0)


if __name__ == "__main__":
    unittest.main()
