#!/usr/bin/env python3
"""Sends large values to redis-server and to GYRE_BIN_DIR/resp_server, whole, in pieces and between small requests, and
compares every byte of the replies."""

import unittest

from differential_test import Peer, Program, Redis, array, words

SIZES = (0, 1, 16_383, 16_384, 65_536, 81_920, 1 << 20)
BUFFER = 80 << 10  # what the server receives at once


def value(size, number=0):
    """Bytes whose pieces differ from each other and from those of another number."""
    return b"".join(b"%d:%d\r\n" % (number, i) for i in range(size // 6 + 1))[:size]


class LargeValues(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.redis = Redis().__enter__()
        cls.addClassCleanup(cls.redis.__exit__)
        cls.server = Program("resp_server").__enter__()
        cls.addClassCleanup(cls.server.__exit__)

    def compare(self, *pieces):
        """Sends each piece when the server has answered another connection after the previous one."""
        replies = []
        for port in (self.server.port, self.redis.port):
            peer, other = Peer(port), Peer(port)
            for piece in pieces[:-1]:
                peer.socket.sendall(piece)
                other.exchange(b"")
            replies.append(peer.exchange(pieces[-1]))
            peer.close()
            other.close()
        self.assertEqual(replies[0], replies[1], [len(piece) for piece in pieces])

    def test_every_command_takes_and_returns_them(self):
        for size in SIZES:
            first, second = value(size), value(size, 1)
            for request in (array("SET", "a", first), array("GET", "a"), array("SET", "a", second), array("GET", "a"),
                            array("GETSET", "a", first), array("SET", "b", second, "EX", "1000", "GET"),
                            array("SET", "b", first, "XX", "GET"), array("APPEND", "a", second), array("GET", "a"),
                            array("MSET", "c", first, "d", second), array("MGET", "c", "none", "d"),
                            array("SETNX", "c", second), array("STRLEN", "c"), array("ECHO", first),
                            array("SET", "a", "small"), array("GET", "a"), array("INCR", "c"), array("DEL", "c")):
                self.compare(request)

    def test_they_stand_between_small_requests(self):
        small = words("PING; SET s 1; GET s")
        for size in SIZES:
            self.compare(b"".join([*small, array("SET", "a", value(size)), *small, array("SET", "a", value(size, 1)),
                                   array("GET", "a"), *small]))

    def test_they_arrive_in_two_pieces(self):
        for size in SIZES:
            request = array("SET", "a", value(size))
            head = len(request) - size - 2
            ends = {1, 4, head - 1, head, head + 1, head + 16_384, 65_535, 65_536, 65_537, BUFFER - 1, BUFFER,
                    BUFFER + 1, head + size - 1, head + size, head + size + 1, len(request)}
            for end in sorted(each for each in ends if each <= len(request)):
                self.compare(request[:end], request[end:] + array("GET", "a"))

    def test_a_client_that_leaves_in_the_middle_changes_nothing(self):
        self.compare(array("SET", "a", value(65_536)))
        for size in SIZES:
            request = array("SET", "a", value(size, 1))
            for port in (self.server.port, self.redis.port):
                peer = Peer(port)
                peer.socket.sendall(request[:-1])
                peer.close()
        self.compare(array("GET", "a"))


if __name__ == "__main__":
    unittest.main()
