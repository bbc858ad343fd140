"""gyre proxy: malformed responses that can mean only one thing are passed on well formed; the others are 502."""

import unittest

from proxy_support import Proxy
from scripted import Scripted, read_head


def exchange(answer):
    """Returns the head and the body that a client gets when the server sends these bytes."""

    def serve(peer, _):
        read_head(peer)
        peer.sendall(answer)

    with Scripted(serve) as server, Proxy(server.port) as proxy, proxy.socket() as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        received = b""
        while piece := client.recv(65536):
            received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    return head.split(b"\r\n"), body


class Malformed(unittest.TestCase):
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
                head, body = exchange(answer)
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
                self.assertTrue(exchange(answer)[0][0].startswith(b"HTTP/1.1 502 "))


if __name__ == "__main__":
    unittest.main()
