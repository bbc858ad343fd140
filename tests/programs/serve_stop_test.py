"""A stop request to gyre serve on two loops while a thousand clients wait: no request that was sent is lost."""

import resource
import selectors
import signal
import socket
import time
import unittest

from raw_http import WithTree
from support import Serve

CLIENTS = 1000
REQUEST = b"GET /a.txt HTTP/1.1\r\nHost: localhost\r\n\r\n"


def connect_all(port):
    """Clients whose connections the kernel has completed. The server may not have accepted them."""
    return [socket.create_connection(("127.0.0.1", port), 20) for _ in range(CLIENTS)]


def read_to_end(peers):
    """What each client receives until the server closes its connection; or the error that ended it."""
    received = {peer: bytearray() for peer in peers}
    failures = []
    deadline = time.monotonic() + 30
    with selectors.DefaultSelector() as waiting:
        for peer in peers:
            waiting.register(peer, selectors.EVENT_READ)
        while waiting.get_map() and time.monotonic() < deadline:
            for key, _ in waiting.select(1):
                try:
                    chunk = key.fileobj.recv(65_536)
                except OSError as error:
                    failures.append(error)
                    chunk = b""
                received[key.fileobj] += chunk
                if not chunk:
                    waiting.unregister(key.fileobj)
        if waiting.get_map():
            failures.append(f"{len(waiting.get_map())} connections are still open")
    return list(received.values()), failures


class Stop(WithTree):
    def setUp(self):
        super().setUp()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))

    def stop_with_requests(self, mode, before):
        """Sends SIGTERM when `before` requests of each client have been answered and another one has been sent."""
        with Serve(self.root, "--threads", 2, "--accept", mode) as server:
            peers = connect_all(server.port)
            for _ in range(before):
                for peer in peers:
                    peer.sendall(REQUEST)
                for peer in peers:
                    self.read_response(peer)
            for peer in peers:
                peer.sendall(REQUEST)
            server.process.send_signal(signal.SIGTERM)
            received, failures = read_to_end(peers)
            for peer in peers:
                peer.close()
            self.assertEqual(failures, [])
            self.assertEqual([each for each in received if not self.is_whole(bytes(each))], [])
            self.assertEqual(server.process.wait(20), 0)

    def read_response(self, peer):
        received = b""
        while not self.is_whole(received):
            chunk = peer.recv(65_536)
            self.assertNotEqual(chunk, b"")
            received += chunk

    def is_whole(self, response):
        return response.startswith(b"HTTP/1.1 200 ") and response.endswith((self.root / "a.txt").read_bytes())

    def test_requests_on_connections_that_wait_to_be_accepted_are_answered(self):
        for mode in ("reuse_port", "one_acceptor"):
            with self.subTest(mode):
                self.stop_with_requests(mode, before=0)

    def test_requests_on_connections_that_are_in_use_are_answered(self):
        for mode in ("reuse_port", "one_acceptor"):
            with self.subTest(mode):
                self.stop_with_requests(mode, before=2)


if __name__ == "__main__":
    unittest.main()
