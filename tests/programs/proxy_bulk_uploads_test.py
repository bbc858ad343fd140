"""gyre proxy: large bodies of requests at the same time, which the kernel moves from socket to socket."""

import hashlib
import http.client
import os
import socket
import threading
import unittest

from proxy_bulk_test import PIPE, SIZE, SIZES, all_at_once, pipes
from proxy_support import Proxy, ok
from scripted import Scripted

BYTES = os.urandom(1 << 20) * (SIZE >> 20) + b"the end"


class Origin(Scripted):
    """Answers with the checksum of what it was sent. "/reset" and "/early" end in the middle, "/mute" never answers."""

    def __init__(self):
        super().__init__(self.take_all)
        self.connections = 0
        self.silence = threading.Event()

    def take_all(self, peer, _):
        self.connections += 1
        with peer.makefile("rb", buffering=1 << 18) as stream:
            while line := stream.readline():
                path = line.decode().split()[1]
                fields = http.client.parse_headers(stream)
                size = int(fields["Content-Length"])
                checksum, left = hashlib.sha256(), size if path == "/" else min(size // 2, 4 * PIPE)
                while left and (piece := stream.read1(min(left, 1 << 18))):
                    checksum.update(piece)
                    left -= len(piece)
                if path == "/reset":
                    return
                if path == "/mute":
                    self.silence.wait(60)
                    return
                peer.sendall(ok(checksum.hexdigest(), "200 OK" if path == "/" else "413 Content Too Large"))
                if path == "/early":
                    return

    def __exit__(self, *_):
        self.silence.set()
        super().__exit__()


def checksum(size):
    return hashlib.sha256(BYTES[:size]).hexdigest()


def upload(connection, size, path="/"):
    """Returns the status and the body of the answer."""
    connection.request("PUT", path, BYTES[:size])
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def begin(proxy, path, size, sent):
    peer = proxy.socket()
    peer.sendall(f"PUT {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {size}\r\n\r\n".encode() + BYTES[:sent])
    return peer


class Uploads(unittest.TestCase):
    def expect_idle(self, proxy, origin, failures):
        proxy.wait_until_idle(origin.port)
        self.assertEqual(proxy.metric("gyre_proxy_failures_total", origin.port), failures)

    def test_bodies_at_the_same_time_go_through_pipes_and_arrive_whole_over_connections_that_stay(self):
        with Origin() as origin, Proxy(origin.port) as proxy:
            before = pipes(proxy)

            def several(_):
                connection = proxy.connect()
                for size in SIZES:
                    self.assertEqual(upload(connection, size), (200, checksum(size)), size)
                first = connection.sock
                upload(connection, 10)
                self.assertIs(connection.sock, first)
                connection.close()

            all_at_once(4, several)
            self.assertGreater(pipes(proxy), before)
            self.assertLessEqual(origin.connections, 4)
            self.assertEqual(proxy.metric("gyre_proxy_failures_total", origin.port), 0)

    def test_a_server_that_breaks_off_is_counted_and_each_client_is_told(self):
        with Origin() as origin, Proxy(origin.port, arguments=("--max-fails", "1000")) as proxy:
            def broken(_):
                connection = proxy.connect()
                try:
                    self.assertEqual(upload(connection, SIZE, "/reset")[0], 502)
                except OSError:  # the proxy has closed before the body was sent
                    pass

            all_at_once(6, broken)
            self.expect_idle(proxy, origin, 6)

    def test_an_early_answer_comes_through(self):
        with Origin() as origin, Proxy(origin.port) as proxy:
            def early(_):
                peer = begin(proxy, "/early", 2 * SIZE, 0)
                threading.Thread(target=self.send_until_refused, args=(peer,), daemon=True).start()
                self.assertTrue(peer.recv(100).startswith(b"HTTP/1.1 413 "))

            all_at_once(6, early)

    @staticmethod
    def send_until_refused(peer):
        try:
            for _ in range(2):
                peer.sendall(BYTES[:SIZE])
        except OSError:
            pass

    def test_clients_that_leave_are_no_failures_of_the_server_and_others_go_on(self):
        with Origin() as origin, Proxy(origin.port) as proxy:
            def leaves(number):
                if number % 2 == 0:
                    return self.assertEqual(upload(proxy.connect(), SIZE), (200, checksum(SIZE)))
                with begin(proxy, "/", SIZE, 3 * PIPE) as peer:
                    peer.shutdown(socket.SHUT_WR)
                    peer.recv(100)

            all_at_once(8, leaves)
            self.expect_idle(proxy, origin, 0)

    def test_clients_that_stall_are_told_while_others_go_on(self):
        with Origin() as origin, Proxy(origin.port, arguments=("--body-timeout", "1")) as proxy:
            stalled = [begin(proxy, "/", SIZE, 3 * PIPE) for _ in range(6)]
            self.assertEqual(all_at_once(4, lambda _: upload(proxy.connect(), SIZE)), [(200, checksum(SIZE))] * 4)
            for each in stalled:
                self.assertTrue(each.recv(100).startswith(b"HTTP/1.1 408 "))
                each.close()
            self.expect_idle(proxy, origin, 0)

    def test_a_server_that_stalls_ends_at_the_limit_of_the_proxy(self):
        with Origin() as origin, Proxy(origin.port, arguments=("--timeout", "1", "--max-fails", "1000")) as proxy:
            def stalls(_):
                peer = begin(proxy, "/mute", 10 * SIZE, 0)
                threading.Thread(target=self.send_until_refused, args=(peer,), daemon=True).start()
                self.assertTrue(peer.recv(100).startswith(b"HTTP/1.1 504 "))

            all_at_once(6, stalls)
            self.expect_idle(proxy, origin, 6)


if __name__ == "__main__":
    unittest.main()
