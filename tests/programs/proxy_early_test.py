"""gyre proxy: responses that begin, or are complete, before their request has been sent."""
import socket
import threading
import time
import unittest

from raw_http import read_until, reset
from scripted import Scripted
from support import Proxy

CHUNKS = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
COMPLETE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
UPLOAD = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"


class Early(Scripted):
    """Answers as soon as it has the head. Keeps the bodies of the requests."""

    def __init__(self, reply, echoes=False):
        super().__init__(self.take)
        self.reply, self.echoes = reply, echoes
        self.bodies = []
        self.ended = threading.Semaphore(0)

    def take(self, peer, _):
        received, body = b"", bytearray()
        try:
            while b"\r\n\r\n" not in received and (piece := peer.recv(65536)):
                received += piece
            head, _, begin = received.partition(b"\r\n\r\n")
            size = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0] or 0)
            body += begin
            peer.sendall(self.reply)
            while len(body) < size and (piece := peer.recv(65536)):
                body += piece
                if self.echoes:
                    peer.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
            if self.echoes:
                peer.sendall(b"0\r\n\r\n")
        except OSError:
            pass
        finally:
            self.bodies.append(bytes(body))
            self.ended.release()


class EarlyResponses(unittest.TestCase):
    def test_a_response_is_streamed_while_the_request_is(self):
        with Early(CHUNKS, echoes=True) as server, Proxy(server.port) as proxy, proxy.socket() as peer:
            peer.sendall(UPLOAD % 50)
            read_until(peer, b"\r\n\r\n")
            for i in range(5):
                piece = b"piece %4d" % i
                peer.sendall(piece)
                self.assertIn(piece, read_until(peer, piece + b"\r\n" if i < 4 else b"0\r\n\r\n"))
            peer.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
            self.assertTrue(peer.recv(100).startswith(b"HTTP/1.1 200 "), "the connection is used again")

    def test_a_complete_response_comes_at_once_and_the_upload_goes_on(self):
        with Early(COMPLETE) as server, Proxy(server.port) as proxy, proxy.socket() as peer:
            peer.sendall(UPLOAD % 2000)
            began = time.monotonic()
            read_until(peer, b"ok")
            self.assertLess(time.monotonic() - began, 0.8)
            for _ in range(20):
                peer.sendall(b"x" * 100)
                time.sleep(0.08)
            peer.shutdown(socket.SHUT_WR)
            peer.recv(1)
            self.assertTrue(server.ended.acquire(timeout=20))
            self.assertEqual(server.bodies, [b"x" * 2000])

    def test_an_upload_that_stops_after_a_complete_response_is_given_up(self):
        with Early(COMPLETE) as server, Proxy(server.port) as proxy, proxy.socket() as peer:
            peer.sendall(UPLOAD % 2000 + b"x" * 100)
            read_until(peer, b"ok")
            self.assertTrue(server.ended.acquire(timeout=20), "the connection to the server was kept")
            self.assertEqual(server.bodies, [b"x" * 100])

    def test_a_response_without_a_body_comes_when_the_upload_has_ended(self):
        with Early(b"HTTP/1.1 204 No Content\r\n\r\n") as server, Proxy(server.port) as proxy, proxy.socket() as peer:
            peer.sendall(UPLOAD % 4 + b"12")
            time.sleep(0.3)
            peer.sendall(b"34")
            self.assertTrue(read_until(peer, b"\r\n\r\n").startswith(b"HTTP/1.1 204 "))
            self.assertTrue(server.ended.acquire(timeout=20))
            self.assertEqual(server.bodies, [b"1234"])

    def test_clients_that_leave_in_the_middle_of_both_do_no_harm(self):
        with Early(CHUNKS, echoes=True) as server, Proxy(server.port) as proxy:
            for how in (socket.SHUT_RDWR, socket.SHUT_WR, None):
                for sent in (b"", b"x" * 100):
                    with self.subTest(how=how, sent=len(sent)), proxy.socket() as peer:
                        peer.sendall(UPLOAD % 1000)
                        read_until(peer, b"\r\n\r\n")
                        peer.sendall(sent)
                        if sent:
                            read_until(peer, sent + b"\r\n")
                        if how is not None:
                            peer.shutdown(how)
                            peer.close()
                        else:
                            reset(peer)
                        self.assertTrue(server.ended.acquire(timeout=20), "the upload was not ended")
            self.assertEqual(proxy.failures(server.port), 0)
            self.assertEqual(proxy.metric("gyre_proxy_running", server.port), 0)

    def test_the_handler_is_stopped_in_the_middle_of_both(self):
        with Early(CHUNKS, echoes=True) as server, Proxy(server.port, arguments=("--drain", "0.2")) as proxy, \
                proxy.socket() as peer:
            peer.sendall(UPLOAD % 1000)
            read_until(peer, b"\r\n\r\n")
            peer.sendall(b"x" * 100)
            read_until(peer, b"x\r\n")
            self.assertNotIn(proxy.stop(), (-11, -6, 139, 134))
            self.assertTrue(server.ended.acquire(timeout=20))


if __name__ == "__main__":
    unittest.main()
