"""gyre proxy: large bodies at the same time, which the kernel moves from socket to socket."""

import hashlib
import http.client
import os
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from proxy_support import Proxy
from scripted import Scripted, read_head

SIZE = 24 << 20
PIPE = 1 << 20  # the most that is moved at once
SIZES = (SIZE, 6 * PIPE + 7, 6 * PIPE - PIPE // 2, PIPE, 5 * PIPE + 1, 100)


class Origin(Scripted):
    """Answers "/SIZE" with so many random bytes, in a length of its own, and "/SIZE/reset" with the first half."""

    def __init__(self):
        super().__init__(self.answer_all)
        self.bytes = os.urandom(1 << 20) * (SIZE >> 20) + b"the end"
        self.connections = 0

    def answer_all(self, peer, _):
        self.connections += 1
        while True:
            path = read_head(peer).split()[1].split("/")
            size = int(path[1])
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
            if "reset" in path:
                peer.sendall(self.bytes[:size // 2])
                return
            peer.sendall(self.bytes[:size])

    def checksum(self, size):
        return hashlib.sha256(self.bytes[:size]).digest()


def pipes(proxy):
    """The number of descriptors of pipes."""
    found = 0
    for each in Path(f"/proc/{proxy.process.pid}/fd").iterdir():
        try:
            found += os.readlink(each).startswith("pipe:")
        except OSError:
            pass
    return found


def download(connection, path):
    """Returns the checksum of a body, which must be whole."""
    connection.request("GET", path)
    answer = connection.getresponse()
    checksum, size = hashlib.sha256(), 0
    while piece := answer.read(1 << 18):
        checksum.update(piece)
        size += len(piece)
    if size != int(answer.headers["Content-Length"]):
        raise http.client.IncompleteRead(b"")
    return checksum.digest()


def all_at_once(count, function):
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(function, range(count)))


class Bulk(unittest.TestCase):
    def test_bodies_at_the_same_time_go_through_pipes_and_arrive_whole_over_connections_that_stay(self):
        with Origin() as origin, Proxy(origin.port) as proxy:
            before = pipes(proxy)

            def several(_):
                connection = proxy.connect()
                for size in SIZES:
                    self.assertEqual(download(connection, f"/{size}"), origin.checksum(size), size)
                first = connection.sock
                download(connection, "/10")
                self.assertIs(connection.sock, first)
                connection.close()

            all_at_once(4, several)
            self.assertGreater(pipes(proxy), before)
            self.assertLessEqual(origin.connections, 4)
            self.assertEqual(proxy.metric("gyre_proxy_failures_total", origin.port), 0)

    def test_a_server_that_breaks_off_is_counted_and_no_client_takes_a_part_for_the_whole(self):
        with Origin() as origin, Proxy(origin.port, arguments=("--max-fails", "1000")) as proxy:
            def broken(_):
                connection = proxy.connect()
                with self.assertRaises((http.client.IncompleteRead, OSError)):
                    download(connection, f"/{SIZE}/reset")

            all_at_once(6, broken)
            self.assertEqual(proxy.metric("gyre_proxy_failures_total", origin.port), 6)

    def test_clients_that_leave_are_no_failures_of_the_server_and_others_go_on(self):
        with Origin() as origin, Proxy(origin.port) as proxy:
            leaving = threading.Event()

            def leaves(number):
                connection = proxy.connect()
                if number % 2 == 0:
                    leaving.wait(60)
                    return self.assertEqual(download(connection, f"/{SIZE}"), origin.checksum(SIZE))
                connection.request("GET", f"/{SIZE}")
                connection.getresponse().read(2 * PIPE)
                connection.close()
                leaving.set()

            all_at_once(8, leaves)
            proxy.wait_until_idle(origin.port)
            self.assertEqual(proxy.metric("gyre_proxy_failures_total", origin.port), 0)

    def test_clients_that_stall_are_reset_while_others_go_on(self):
        with Origin() as origin, Proxy(origin.port, arguments=("--write-timeout", "1")) as proxy:
            stalled = [proxy.connect() for _ in range(6)]
            for each in stalled:
                each.request("GET", f"/{SIZE}")
                each.stalled = each.getresponse()
            self.assertEqual(all_at_once(4, lambda _: download(proxy.connect(), f"/{SIZE}")),
                             [origin.checksum(SIZE)] * 4)
            proxy.wait_until_idle(origin.port)
            for each in stalled:
                with self.assertRaises((http.client.IncompleteRead, OSError)):
                    each.stalled.read()
                each.close()


if __name__ == "__main__":
    unittest.main()
