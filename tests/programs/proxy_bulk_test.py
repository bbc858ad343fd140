"""gyre proxy: large bodies at the same time, in either direction, which the kernel moves from socket to socket."""

import hashlib
import http.client
import os
import socket
import threading
import unittest
from pathlib import Path

from raw_http import all_at_once
from scripted import Scripted, ok
from support import Proxy

SIZE = 24 << 20
PIPE = 1 << 20  # the most that is moved at once
SIZES = (SIZE, 6 * PIPE + 7, 6 * PIPE - PIPE // 2, PIPE, 5 * PIPE + 1, 100)
BYTES = os.urandom(1 << 20) * (SIZE >> 20) + b"the end"
CUT_OFF = (http.client.IncompleteRead, OSError)


def checksum(size):
    return hashlib.sha256(BYTES[:size]).hexdigest()


class Origin(Scripted):
    """Answers "/SIZE" with so many bytes, and "/SIZE/reset" with the first half. Answers an upload with its checksum;
    "/reset" and "/early" end in the middle, "/mute" never answers."""

    def __init__(self):
        super().__init__(self.talk)
        self.connections = 0
        self.silence = threading.Event()

    def talk(self, peer, _):
        self.connections += 1
        with peer.makefile("rb", buffering=1 << 18) as stream:
            while line := stream.readline():
                method, path, _ = line.decode().split()
                fields = http.client.parse_headers(stream)
                if not (self.take(peer, stream, path, int(fields["Content-Length"])) if method == "PUT" else
                        self.give(peer, *path[1:].split("/"))):
                    return

    def give(self, peer, size, *reset):
        size = int(size)
        peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        peer.sendall(BYTES[:size // 2 if reset else size])
        return not reset

    def take(self, peer, stream, path, size):
        digest, left = hashlib.sha256(), size if path == "/" else min(size // 2, 4 * PIPE)
        while left and (piece := stream.read1(min(left, 1 << 18))):
            digest.update(piece)
            left -= len(piece)
        if path == "/mute":
            self.silence.wait(60)
        elif path != "/reset":
            peer.sendall(ok(digest.hexdigest(), "200 OK" if path == "/" else "413 Content Too Large"))
        return path == "/"

    def __exit__(self, *_):
        self.silence.set()
        super().__exit__()


def pipes(proxy):
    """The number of descriptors of pipes."""
    found = 0
    for each in Path(f"/proc/{proxy.process.pid}/fd").iterdir():
        try:
            found += os.readlink(each).startswith("pipe:")
        except OSError:
            pass
    return found


def download(connection, size, path=""):
    """Returns the status and the checksum of a body, which must be whole."""
    connection.request("GET", f"/{size}{path}")
    answer = connection.getresponse()
    digest, left = hashlib.sha256(), int(answer.headers["Content-Length"])
    while piece := answer.read(1 << 18):
        digest.update(piece)
        left -= len(piece)
    if left:
        raise http.client.IncompleteRead(b"")
    return answer.status, digest.hexdigest()


def upload(connection, size, path="/"):
    """Returns the status and the body of the answer."""
    connection.request("PUT", path, BYTES[:size])
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def begin_upload(proxy, path, size, sent):
    peer = proxy.socket()
    peer.sendall(f"PUT {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {size}\r\n\r\n".encode() + BYTES[:sent])
    return peer


def send_until_refused(peer):
    try:
        for _ in range(2):
            peer.sendall(BYTES[:SIZE])
    except OSError:
        pass


class Bulk(unittest.TestCase):
    def start(self, *arguments):
        self.origin = self.enterContext(Origin())
        self.proxy = self.enterContext(Proxy(self.origin.port, arguments=arguments))

    def at_once(self, count, function):
        return all_at_once(count, function)[0]

    def expect_idle(self, failures):
        self.proxy.wait_until_idle(self.origin.port)
        self.assertEqual(self.proxy.failures(self.origin.port), failures)

    def check_that_bodies_arrive(self, transfer):
        self.start()
        before = pipes(self.proxy)

        def several(_):
            connection = self.proxy.connect()
            for size in SIZES:
                self.assertEqual(transfer(connection, size), (200, checksum(size)), size)
            first = connection.sock
            transfer(connection, 10)
            self.assertIs(connection.sock, first)
            connection.close()

        self.at_once(4, several)
        self.assertGreater(pipes(self.proxy), before)
        self.assertLessEqual(self.origin.connections, 4)
        self.assertEqual(self.proxy.failures(self.origin.port), 0)

    def test_downloads_at_the_same_time_go_through_pipes_and_arrive_whole_over_connections_that_stay(self):
        self.check_that_bodies_arrive(download)

    def test_uploads_at_the_same_time_go_through_pipes_and_arrive_whole_over_connections_that_stay(self):
        self.check_that_bodies_arrive(upload)

    def test_a_server_that_breaks_off_is_counted_and_no_client_takes_a_part_for_the_whole(self):
        self.start("--max-fails", "1000")

        def broken(_):
            with self.assertRaises(CUT_OFF):
                download(self.proxy.connect(), SIZE, "/reset")

        self.at_once(6, broken)
        self.expect_idle(6)

    def test_a_server_that_breaks_off_an_upload_is_counted_and_each_client_is_told(self):
        self.start("--max-fails", "1000")

        def broken(_):
            try:
                self.assertEqual(upload(self.proxy.connect(), SIZE, "/reset")[0], 502)
            except OSError:  # the proxy has closed before the body was sent
                pass

        self.at_once(6, broken)
        self.expect_idle(6)

    def check_answers_to_uploads(self, path, size, start):
        def ask(_):
            peer = begin_upload(self.proxy, path, size, 0)
            threading.Thread(target=send_until_refused, args=(peer,), daemon=True).start()
            self.assertTrue(peer.recv(100).startswith(start))

        self.at_once(6, ask)

    def test_an_early_answer_comes_through(self):
        self.start()
        self.check_answers_to_uploads("/early", 2 * SIZE, b"HTTP/1.1 413 ")

    def test_a_server_that_stalls_ends_at_the_limit_of_the_proxy(self):
        self.start("--timeout", "1", "--max-fails", "1000")
        self.check_answers_to_uploads("/mute", 10 * SIZE, b"HTTP/1.1 504 ")
        self.expect_idle(6)

    def test_clients_that_leave_are_no_failures_of_the_server_and_others_go_on(self):
        self.start()
        leaving = threading.Event()

        def leaves(number):
            connection = self.proxy.connect()
            if number % 2 == 0:
                leaving.wait(60)
                return self.assertEqual(download(connection, SIZE), (200, checksum(SIZE)))
            connection.request("GET", f"/{SIZE}")
            connection.getresponse().read(2 * PIPE)
            connection.close()
            leaving.set()

        self.at_once(8, leaves)
        self.expect_idle(0)

    def test_clients_that_leave_their_uploads_are_no_failures_of_the_server_and_others_go_on(self):
        self.start()

        def leaves(number):
            if number % 2 == 0:
                return self.assertEqual(upload(self.proxy.connect(), SIZE), (200, checksum(SIZE)))
            with begin_upload(self.proxy, "/", SIZE, 3 * PIPE) as peer:
                peer.shutdown(socket.SHUT_WR)
                peer.recv(100)

        self.at_once(8, leaves)
        self.expect_idle(0)

    def test_clients_that_stall_are_reset_while_others_go_on(self):
        self.start("--write-timeout", "1")
        stalled = [self.proxy.connect() for _ in range(6)]
        for each in stalled:
            each.request("GET", f"/{SIZE}")
            each.stalled = each.getresponse()
        self.assertEqual(self.at_once(4, lambda _: download(self.proxy.connect(), SIZE)), [(200, checksum(SIZE))] * 4)
        self.proxy.wait_until_idle(self.origin.port)
        for each in stalled:
            with self.assertRaises(CUT_OFF):
                each.stalled.read()
            each.close()

    def test_clients_whose_uploads_stall_are_told_while_others_go_on(self):
        self.start("--body-timeout", "1")
        stalled = [begin_upload(self.proxy, "/", SIZE, 3 * PIPE) for _ in range(6)]
        self.assertEqual(self.at_once(4, lambda _: upload(self.proxy.connect(), SIZE)), [(200, checksum(SIZE))] * 4)
        for each in stalled:
            self.assertTrue(each.recv(100).startswith(b"HTTP/1.1 408 "))
            each.close()
        self.expect_idle(0)


if __name__ == "__main__":
    unittest.main()
