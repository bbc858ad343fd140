"""gyre proxy: malformed responses that can mean only one thing are passed on well formed; the others are 502, or
cut off what has begun."""

import threading
import unittest

from raw_http import exchange, read_all, read_until
from scripted import Scripted, answering, read_head, saying
from support import Proxy

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
TRAILERS = b"4\r\nbody\r\n0\r\nChecksum: 7\r\nchecksum: 8\r\n\r\n"
GET = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"


class Malformed(unittest.TestCase):
    def response(self, answer):
        """Returns the lines of the head, and the body, that a client gets when the server sends these bytes."""
        with saying(answer) as server, Proxy(server.port) as proxy:
            head, _, body = exchange(proxy.port, GET).partition(b"\r\n\r\n")
            return head.split(b"\r\n"), body

    def test_a_response_with_one_meaning_is_written_anew(self):
        start = b"HTTP/1.1 200 OK\r\n"
        for answer, field in (
                (start + b"X-A: one\r\n two\r\nContent-Length: 2\r\n\r\nok", b"X-A: one   two"),
                (b"HTTP/1.1 200 OK\nX-A: b\nContent-Length: 2\n\nok", b"X-A: b"),
                (start + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\nok", b"Content-Length: 2"),
                (start + b"Content-Length: 2, 2\r\n\r\nok", b""),
                (start + b"Transfer-Encoding: chunked\r\n\r\n2   \r\nok\r\n0\r\n\r\n", b"Transfer-Encoding: chunked"),
                (start + b"X-A: b\r\n" * 200 + b"Content-Length: 2\r\n\r\nok", b"X-A: b"),
                (start + b"X-A: " + b"b" * 40_000 + b"\r\nContent-Length: 2\r\n\r\nok", b"X-A: " + b"b" * 40_000)):
            with self.subTest(answer[:80]):
                head, body = self.response(answer)
                self.assertEqual(head[0], b"HTTP/1.1 200 OK")
                self.assertTrue(not field or field in head, head)
                self.assertLessEqual(sum(line.startswith(b"Content-Length") for line in head), 1)
                self.assertFalse(any(b"\n" in line or line.startswith(b" ") for line in head))
                self.assertIn(body, (b"ok", b"2\r\nok\r\n0\r\n\r\n"))

    def test_a_response_with_two_meanings_is_502(self):
        start = b"HTTP/1.1 200 OK\r\n"
        for answer in (start + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nok!",
                       start + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
                       start + b" X-A: b\r\nContent-Length: 2\r\n\r\nok",
                       start + b"X-A : b\r\nContent-Length: 2\r\n\r\nok",
                       start + b"X-A: b\rc\r\nContent-Length: 2\r\n\r\nok"):
            with self.subTest(answer[:80]):
                self.assertTrue(self.response(answer)[0][0].startswith(b"HTTP/1.1 502 "))


class Broken(unittest.TestCase):
    MALFORMED = (CHUNKED + b"\r\nzz\r\n", CHUNKED + b"\r\n4\r\nbody\r\n-1\r\n", CHUNKED + b"\r\n1\r\nbody\r\n")
    CUT_OFF = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nbody"

    def test_chunks_that_are_malformed_when_the_head_comes_are_answered_with_502(self):
        for answer in self.MALFORMED:
            with self.subTest(answer), saying(answer) as server, Proxy(server.port) as proxy:
                for method in (b"GET", b"POST"):
                    got = exchange(proxy.port, GET.replace(b"GET", method))
                    self.assertTrue(got.startswith(b"HTTP/1.1 502 "), got)
                self.assertEqual(proxy.failures(server.port), 2)

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
                with proxy.socket() as peer:
                    peer.sendall(GET.replace(b"Connection: close\r\n", b""))
                    text = read_until(peer, b"4\r\nbody\r\n")
                    seen.set()
                    text += read_all(peer, or_reset=True)
                self.assertNotIn(b"\r\n0\r\n", text)
                self.assertEqual(proxy.failures(server.port), 1)
                self.assertIn(f"GET http://127.0.0.1:{server.port}/: ", proxy.said())

    def test_a_request_that_may_be_repeated_goes_to_another_server_after_malformed_chunks(self):
        with saying(self.MALFORMED[0]) as bad, answering("b") as b:
            with Proxy(bad.port, b.port, arguments=["--max-fails", "1000"]) as proxy:
                self.assertEqual({proxy.get("/") for _ in range(4)}, {(200, b"b")})

    def broken_bodies(self, proxy, count):
        for _ in range(count):
            try:
                exchange(proxy.port, GET)
            except ConnectionResetError:
                pass

    def test_a_body_that_breaks_is_a_failure_of_the_server(self):
        with saying(self.CUT_OFF) as server, Proxy(server.port, arguments=["--max-fails", "2"]) as proxy:
            self.broken_bodies(proxy, 1)
            self.assertEqual(proxy.failures(server.port), 1)
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
            self.assertEqual(proxy.failures(server.port), 3)
            self.assertEqual(exchange(proxy.port, GET)[:12], b"HTTP/1.1 502")  # the second in a row
            self.assertEqual(proxy.metric("gyre_proxy_up", server.port), 1)  # as it was when the request came
            self.assertEqual(exchange(proxy.port, GET)[:12], b"HTTP/1.1 502")
            self.assertEqual(proxy.metric("gyre_proxy_up", server.port), 0)

    def test_a_client_that_leaves_is_no_failure_of_the_server(self):
        def serve(peer, _):
            read_head(peer)
            peer.sendall(CHUNKED + b"\r\n4\r\nbody\r\n")
            peer.recv(1)  # until the proxy closes the connection

        with Scripted(serve) as server, Proxy(server.port, arguments=["--max-fails", "1"]) as proxy:
            with proxy.socket() as peer:
                peer.sendall(GET)
                read_until(peer, b"body")
            proxy.wait_until_idle(server.port)
            self.assertEqual(proxy.failures(server.port), 0)
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
            with proxy.socket() as peer:
                peer.sendall(GET)
                read_until(peer, b"body")
            proxy.wait_until_idle(server.port)
            self.broken_bodies(proxy, 2)
            self.assertEqual(proxy.failures(server.port), 3)
            self.assertEqual(proxy.metric("gyre_proxy_up", server.port), 1)  # as it was when the last request came
            self.broken_bodies(proxy, 1)
            self.assertEqual(proxy.metric("gyre_proxy_up", server.port), 0)


if __name__ == "__main__":
    unittest.main()
