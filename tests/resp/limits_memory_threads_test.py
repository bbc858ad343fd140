#!/usr/bin/env python3
"""The memory of resp_server with several threads while many clients ask for large replies and do not read them, and
the limit for one reply whose parts come from several shards."""

import unittest

from limits_test import MB, WithServer, array

CLIENTS = 100  # their replies would take 400 and 800 MB
KIB_PER_CONNECTION = 128
TOO_LARGE = b"-OOM reply is larger than 'client-output-buffer-limit' or does not fit into 'maxmemory-clients'\r\n"


class Servers(WithServer):
    threads = 1

    def setUp(self):
        self.options = ("--threads", str(self.threads), "--accept", "one_acceptor")  # every loop gets connections

    def one_reply_is_answered_up_to_its_limit(self):
        server = self.serve("--client-output-buffer-limit", "16mb")
        client = self.client(server)
        value = b"x" * MB
        for i in range(16):
            self.assertEqual(client("SET", f"key:{i}", value), b"+OK\r\n")
        for count, fits in ((15, True), (17, False), (12, True), (30, False), (100, False)):
            client.send("MGET", *[f"key:{i % 16}" for i in range(count)])
            client.send("PING")
            self.assertEqual(client.reply(), [value] * count if fits else TOO_LARGE, count)
            self.assertEqual(client.reply(), b"+PONG\r\n")


class Attacks(Servers):
    def attack(self, server, request):
        """Returns after every request has been executed, or its client was closed."""
        deaf = [self.client(server, receive_buffer=4096) for _ in range(CLIENTS)]
        for each in deaf:
            each.socket.sendall(request)
        for each in deaf:
            try:
                self.assertIn(each.socket.recv(1), (b"*", b"-", b""))
            except ConnectionResetError:
                pass  # evicted

    def check(self, server, request, size):
        """`request` needs less memory than a deaf client holds. Only larger clients are evicted for it."""
        allowed = 100 * MB + CLIENTS * KIB_PER_CONNECTION * 1024
        self.assertLess(self.peak_memory(server), allowed)
        for _ in range(2 * self.threads):  # on every loop
            other = self.client(server)
            self.assertEqual(other("GET", "small"), b"1")
            self.assertEqual(other("MGET", "small", "none", "small", "other"), [b"1", None, b"1", None])
            self.assertEqual(other("KEYS", "small"), [b"small"])
            other.socket.sendall(request)
            self.assertEqual(len(other.reply()), size)

    def replies_to_keys_that_nobody_reads_stay_within_the_limit(self):
        server = self.serve("--maxmemory", "50mb")
        steady = self.client(server)
        self.assertEqual(steady("SET", "small", "1"), b"+OK\r\n")
        for start in range(0, 20_000, 1000):
            steady.socket.sendall(b"".join(array("SET", f"{i:06}" + "p" * 200, "") for i in range(start, start + 1000)))
            for _ in range(1000):
                self.assertEqual(steady.reply(), b"+OK\r\n")
        self.attack(server, array("KEYS", "*"))
        self.check(server, array("KEYS", "0001*"), 100)

    def replies_to_mget_that_nobody_reads_stay_within_the_limit(self):
        server = self.serve("--maxmemory", "50mb")
        steady = self.client(server)
        self.assertEqual(steady("SET", "small", "1"), b"+OK\r\n")
        for i in range(16):
            self.assertEqual(steady("SET", f"k{i}", b"v" * MB), b"+OK\r\n")
        self.attack(server, array("MGET", *[f"k{i}" for i in range(8)]))
        self.check(server, array("MGET", "k0", "k9"), 2)


class TwoThreads(Attacks):
    threads = 2
    test_keys = Attacks.replies_to_keys_that_nobody_reads_stay_within_the_limit
    test_mget = Attacks.replies_to_mget_that_nobody_reads_stay_within_the_limit
    test_one_reply = Servers.one_reply_is_answered_up_to_its_limit


class FourThreads(TwoThreads):
    threads = 4


class OneThread(TwoThreads):
    threads = 1


if __name__ == "__main__":
    unittest.main()
