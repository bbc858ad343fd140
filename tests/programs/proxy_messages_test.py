"""gyre proxy: trailers and interim responses."""

import threading
import unittest

from raw_http import exchange, read_until
from scripted import Scripted, read_head, saying
from support import Proxy

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
TRAILERS = b"4\r\nbody\r\n0\r\nChecksum: 7\r\nchecksum: 8\r\n\r\n"


GET = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"


class ResponseTrailers(unittest.TestCase):
    def response(self, answer, request=GET):
        with saying(answer) as server, Proxy(server.port) as proxy:
            return exchange(proxy.port, request).split(b"\r\n\r\n", 1)

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
            answer = exchange(proxy.port, b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close, X-Hop\r\n" + fields +
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
                        exchange(proxy.port, GET.replace(b"close\r\n", b"close, TE\r\n" + given))
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
            with proxy.socket() as peer:
                peer.sendall(GET)
                self.assertEqual(read_until(peer, b"\r\n\r\n"), HINT)
                seen.set()
                rest = read_until(peer, b"\r\n\r\nok")
                self.assertTrue(rest.startswith(b"HTTP/1.1 200 OK\r\n"), rest)

    def test_every_interim_response_but_100_is_passed_on_without_fields_of_the_connection(self):
        answer = (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\nConnection: X-Hop\r\nX-Hop: 1\r\n"
                  b"Content-Length: 3\r\nKeep-Alive: 1\r\n\r\n" + HINT + b"HTTP/1.1 199 Mine\r\n\r\n" + OK)
        with saying(answer) as server, Proxy(server.port) as proxy:
            *hints, head, body = exchange(proxy.port, GET).split(b"\r\n\r\n")
        self.assertEqual([b"HTTP/1.1 102 Processing", HINT[:-4]], hints[:2])
        self.assertTrue(hints[2].startswith(b"HTTP/1.1 199 "), hints)
        self.assertTrue(head.startswith(b"HTTP/1.1 200 OK\r\n"), head)
        self.assertEqual((len(hints), body), (3, b"ok"))

    def test_a_client_of_http_1_0_gets_no_hints(self):
        with saying(HINT + OK) as server, Proxy(server.port) as proxy:
            answer = exchange(proxy.port, b"GET / HTTP/1.0\r\n\r\n")
        self.assertTrue(answer.startswith(b"HTTP/1.1 200 OK\r\n"), answer)
        self.assertTrue(answer.endswith(b"\r\n\r\nok"), answer)

    def test_a_client_that_waits_for_100_gets_it_and_the_hints(self):
        def serve(peer, _):
            head = read_head(peer).encode()
            peer.sendall(HINT)
            read_until(peer, b"body", head.partition(b"\r\n\r\n")[2])
            peer.sendall(OK)

        with Scripted(serve) as server, Proxy(server.port) as proxy:
            with proxy.socket() as peer:
                peer.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 4\r\n"
                             b"Expect: 100-continue\r\n\r\n")
                go_on = b"HTTP/1.1 100 Continue\r\n\r\n"
                before = b""
                while len(before) < len(HINT) + len(go_on):
                    before += read_until(peer, b"\r\n\r\n")
                self.assertIn(before, (HINT + go_on, go_on + HINT))
                peer.sendall(b"body")
                self.assertTrue(read_until(peer, b"\r\n\r\nok").startswith(b"HTTP/1.1 200 OK\r\n"))


if __name__ == "__main__":
    unittest.main()
