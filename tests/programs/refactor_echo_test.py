"""The echo pairs of examples/refactor: the refactored program passes the tests that the original passes."""

import os
import signal
import socket
import subprocess
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from raw_http import exchange_at_once, read_all, reset
from refactor_support import Server
from support import BIN, free_port, run, without_gyre


class EchoServerTests:
    def setUp(self):
        self.server = self.enterContext(Server(self.program))

    def test_sends_back_what_comes(self):
        with self.server.socket() as peer:
            for word in (b"hello", b"\0\xff", b"bye"):
                peer.sendall(word)
                self.assertEqual(peer.recv(100), word)

    def test_a_large_message(self):
        message = os.urandom(1 << 20)
        with self.server.socket() as peer:
            self.assertEqual(exchange_at_once(peer, message), message)

    def test_many_connections_at_once(self):
        peers = [self.server.socket() for _ in range(200)]
        try:
            for number, peer in enumerate(peers):
                peer.sendall(b"number %d" % number)
            for number, peer in enumerate(peers):
                self.assertEqual(peer.recv(100), b"number %d" % number)
        finally:
            for peer in peers:
                peer.close()

    def test_large_messages_at_once(self):
        def talk(number):
            message = bytes([number]) * (1 << 20)
            with self.server.socket() as peer:
                return exchange_at_once(peer, message) == message

        with ThreadPoolExecutor(20) as pool:
            self.assertEqual(list(pool.map(talk, range(20))), [True] * 20)

    def test_half_close(self):
        with self.server.socket() as peer:
            peer.sendall(b"the last words")
            peer.shutdown(socket.SHUT_WR)
            self.assertEqual(read_all(peer), b"the last words")

    def test_one_who_does_not_read_does_not_keep_the_others(self):
        with self.server.connect_deaf() as greedy, self.server.socket() as peer:
            self.server.fill(greedy)
            peer.sendall(b"hello")
            self.assertEqual(peer.recv(100), b"hello")

    def test_clients_that_reset_are_nobodys_fault(self):
        for _ in range(20):
            with self.server.socket() as peer:
                peer.sendall(b"x" * 100_000)
                reset(peer)
        with self.server.socket() as peer:
            peer.sendall(b"hello")
            self.assertEqual(peer.recv(100), b"hello")
        self.assertEqual(self.server.end(), (0, ""))

    def test_a_signal_ends_it_and_its_connections(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with Server(self.program) as server, server.socket() as peer:
                peer.sendall(b"hello")
                self.assertEqual(peer.recv(100), b"hello")
                self.assertEqual(server.end(number), (0, ""))
                self.assertEqual(peer.recv(100), b"")

    def test_the_second_signal_ends_it_at_once(self):
        for _ in range(5):
            with Server(self.program) as server, server.connect_deaf() as peer:
                server.fill(peer)  # the first signal gives it 10 s to read
                server.process.terminate()
                server.wait_until_it_stops_accepting()
                code = server.end()[0]
            if code != 0:  # otherwise the kernel has made room for the rest, and there was nothing to wait for
                self.assertIn(code, (-signal.SIGTERM, 128 + signal.SIGTERM))
                return
        self.fail("the second signal has no effect")

    def test_wants_an_address_that_is_free(self):
        done = run(BIN / self.program, "--listen", f"127.0.0.1:{self.server.port}")
        self.assertEqual((done.returncode, b"Address already in use" in done.stderr), (1, True), done.stderr)
        self.assertEqual(run(BIN / self.program, "--listen", "nonsense").returncode, 1)
        done = run(BIN / self.program, "--other", "1")
        self.assertEqual((done.returncode, b"usage:" in done.stderr), (2, True))


@without_gyre
class EchoServerBlocking(EchoServerTests, unittest.TestCase):
    program = "echo_server_blocking"


class EchoServerCoroutine(EchoServerTests, unittest.TestCase):
    program = "echo_server_coroutine"


class EchoClientTests:
    def command(self, port):
        return [str(BIN / self.program), "--connect", f"127.0.0.1:{port}"]

    def test_prints_what_comes_back(self):
        for server in ("echo_server_blocking", "echo_server_coroutine"):
            with Server(server) as server:
                for text in (b"", b"one line\n", b"no end of line", os.urandom(3_000_000)):
                    done = run(*self.command(server.port), input=text)
                    self.assertEqual((done.returncode, done.stdout == text, done.stderr), (0, True, b""))

    def test_a_line_comes_back_before_the_next_is_typed(self):
        with Server("echo_server_coroutine") as server:
            with subprocess.Popen(self.command(server.port), stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE) as client:
                for line in (b"first\n", b"second\n"):
                    client.stdin.write(line)
                    client.stdin.flush()
                    self.assertEqual(client.stdout.readline(), line)
                client.stdin.close()
                self.assertEqual(client.wait(20), 0)

    def test_input_and_output_may_be_files(self):
        with Server("echo_server_coroutine") as server, open(__file__, "rb") as source:
            done = run(*self.command(server.port), stdin=source)
            self.assertEqual((done.returncode, done.stdout), (0, Path(__file__).read_bytes()))

    def test_a_server_that_leaves_ends_it_while_it_waits_for_input(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            with subprocess.Popen(self.command(listener.getsockname()[1]), stdin=subprocess.PIPE,
                                  stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE) as client:
                listener.accept()[0].close()
                self.assertEqual(client.wait(20), 1)
                self.assertIn(b"the server has closed the connection", client.stderr.read())

    def test_nobody_reads_what_it_prints(self):
        with Server("echo_server_coroutine") as server:
            with subprocess.Popen(self.command(server.port), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE) as client:
                client.stdout.close()
                client.stdin.write(b"hello\n")
                client.stdin.flush()
                self.assertEqual(client.wait(20), 1)
                self.assertIn(b"Broken pipe", client.stderr.read())

    def test_a_signal_ends_it(self):
        with Server("echo_server_coroutine") as server:
            with subprocess.Popen(self.command(server.port), stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE) as client:
                client.stdin.write(b"hello\n")
                client.stdin.flush()
                self.assertEqual(client.stdout.readline(), b"hello\n")
                client.terminate()
                self.assertIn(client.wait(20), (-signal.SIGTERM, 128 + signal.SIGTERM))

    def test_a_server_that_is_not_there(self):
        done = run(*self.command(free_port()), input=b"")
        self.assertEqual((done.returncode, b"Connection refused" in done.stderr), (1, True), done.stderr)
        self.assertEqual(run(BIN / self.program, "--other", "1").returncode, 2)


@without_gyre
class EchoClientBlocking(EchoClientTests, unittest.TestCase):
    program = "echo_client_blocking"


class EchoClientCoroutine(EchoClientTests, unittest.TestCase):
    program = "echo_client_coroutine"


if __name__ == "__main__":
    unittest.main()
