#!/usr/bin/env python3
"""The limits of resp_server with several threads."""

import unittest

import limits_test
from limits_test import MB, array


class LimitsOfShards(limits_test.Limits):
    options = ("--threads", "3", "--accept", "one_acceptor")  # every loop gets connections

    # Each loop enforces a third of --maxmemory-clients, which is less than one client of these needs.
    test_a_client_that_holds_most_leaves_for_one_that_needs_less = None
    test_requests_that_do_not_end_stay_within_the_limits = None
    test_buffers_count_for_maxmemory_as_in_redis = None

    def test_replies_to_mget_that_nobody_reads_stay_within_the_limit(self):
        clients = 100  # their replies would take 800 MB
        server = self.serve("--maxmemory", "48mb")
        steady = self.client(server)
        self.assertEqual(steady("SET", "small", b"s" * 200_000), b"+OK\r\n")
        for i in range(8):
            self.assertEqual(steady("SET", f"k{i}", b"v" * MB), b"+OK\r\n")
        deaf = [self.client(server, receive_buffer=4096) for _ in range(clients)]
        for each in deaf:
            each.socket.sendall(array("MGET", *[f"k{i}" for i in range(8)]))
        for each in deaf:  # every request has been executed, or its client was closed
            try:
                self.assertIn(each.socket.recv(1), (b"*", b""))
            except ConnectionResetError:
                pass  # evicted
        self.assertLess(self.peak_memory(server), 2 * 48 * MB + clients * 128 * 1024)
        for _ in range(6):  # on every loop
            self.assertEqual(self.client(server)("MGET", "small", "none", "small"),
                             [b"s" * 200_000, None, b"s" * 200_000])


if __name__ == "__main__":
    unittest.main()
