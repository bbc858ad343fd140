"""The servers that repeat and sleep do what they say, with independent clients."""

import re
import signal
import socket
import time
import unittest

from raw_http import all_at_once, read_all
from support import Example, without_gyre


class RepeatAndSleep:
    def setUp(self):
        self.server = self.enterContext(Example(self.program))

    def test_repeats(self):
        for count in (0, 1, 5, 10_000_000):
            self.assertEqual(self.server.get(f"/repeat?count={count}"), (200, b"x" * count))
        self.assertEqual(self.server.get("/repeat?other=1&count=3&last=2"), (200, b"xxx"))

    def test_sleeps(self):
        for ms in ("0", "1.5", "60"):
            began = time.monotonic()
            status, body = self.server.get(f"/sleep?ms={ms}")
            self.assertEqual((status, body.strip()), (200, f"slept {ms} ms".encode()))
            self.assertGreaterEqual(time.monotonic() - began, float(ms) / 1000)

    def test_refuses_bad_parameters(self):
        for target in ("/repeat", "/repeat?count", "/repeat?count=", "/repeat?count=-1", "/repeat?count=1.5",
                       "/repeat?count=5x", "/repeat?count=10000001", "/repeat?count=99999999999999999999", "/sleep",
                       "/sleep?ms=", "/sleep?ms=-1", "/sleep?ms=nan", "/sleep?ms=inf", "/sleep?ms=1e9", "/sleep?ms=x"):
            with self.subTest(target):
                self.assertEqual(self.server.get(target)[0], 400)

    def test_knows_no_other_path(self):
        for target in ("/", "/repeat/", "/other?count=1"):
            self.assertEqual(self.server.get(target)[0], 404)

    def test_keeps_the_connection(self):
        connection = self.server.connect()
        connection.connect()
        first = connection.sock
        for i in range(50):
            connection.request("GET", f"/repeat?count={i}")
            self.assertEqual(connection.getresponse().read(), b"x" * i)
            self.assertIs(connection.sock, first)
        connection.close()

    def test_answers_what_comes_in_one_piece_and_in_many(self):
        with self.server.socket() as peer:
            peer.sendall(b"GET /repeat?count=3 HTTP/1.1\r\nHost: a\r\n\r\n"
                         b"GET /other HTTP/1.1\r\nHost: a\r\n\r\n"
                         b"GET /repeat?count=4 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            answers = read_all(peer)
            self.assertEqual(re.findall(rb"HTTP/1\.1 (\d+)", answers), [b"200", b"404", b"200"])
            self.assertTrue(answers.endswith(b"\r\n\r\nxxxx"), answers)
        with self.server.socket() as peer:
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in b"GET /repeat?count=3 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n":
                peer.sendall(bytes([byte]))
            self.assertTrue(read_all(peer).endswith(b"\r\n\r\nxxx"))

    def test_answers_many_connections(self):
        answers, _ = all_at_once(50, lambda i: self.server.get(f"/repeat?count={i}", {"Connection": "close"}))
        self.assertEqual(answers, [(200, b"x" * i) for i in range(50)])

    def test_a_signal_ends_it_behind_the_request_under_way(self):
        connection = self.server.connect()
        connection.request("GET", "/repeat?count=1")  # so that the connection has been accepted
        connection.getresponse().read()
        connection.request("GET", "/sleep?ms=300")
        self.server.process.send_signal(signal.SIGTERM)
        answer = connection.getresponse()
        self.assertEqual((answer.status, answer.read().strip()), (200, b"slept 300 ms"))
        self.assertIn(self.server.process.wait(20), (0, 143))
        with self.assertRaises(ConnectionRefusedError):
            self.server.socket()

    def test_a_signal_ends_idle_connections(self):
        connection = self.server.connect()
        connection.request("GET", "/repeat?count=1")
        connection.getresponse().read()
        began = time.monotonic()
        self.assertIn(self.server.stop(), (0, 143))
        self.assertLess(time.monotonic() - began, 4)
        self.assertEqual(connection.sock.recv(10), b"")
        connection.close()

    def sleep_at_once(self, count, ms):
        answers, seconds = all_at_once(count, lambda _: self.server.get(f"/sleep?ms={ms}", {"Connection": "close"})[0])
        self.assertEqual(answers, [200] * count)
        return seconds


@without_gyre
class Blocking(RepeatAndSleep, unittest.TestCase):
    program = "repeat_sleep_blocking"

    def test_sleeps_one_after_the_other(self):
        self.assertGreaterEqual(self.sleep_at_once(5, 100), 0.5)


@without_gyre
class Threads(RepeatAndSleep, unittest.TestCase):
    program = "repeat_sleep_threads"

    def test_sleeps_at_the_same_time(self):
        self.assertLess(self.sleep_at_once(50, 300), 10)  # one after another: 15 s


class Coroutines(RepeatAndSleep, unittest.TestCase):
    program = "repeat_sleep_server"

    def test_sleeps_at_the_same_time(self):
        self.assertLess(self.sleep_at_once(50, 300), 10)

    def test_hundreds_of_connections_sleep_at_the_same_time(self):
        peers = [self.server.socket() for _ in range(400)]
        for peer in peers:
            peer.sendall(b"GET /sleep?ms=500 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        began = time.monotonic()
        for peer in peers:
            self.assertTrue(read_all(peer).startswith(b"HTTP/1.1 200 "))
            peer.close()
        self.assertLess(time.monotonic() - began, 20)  # one after another: 200 s


if __name__ == "__main__":
    unittest.main()
