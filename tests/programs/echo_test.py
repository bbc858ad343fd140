"""echo_server and echo_client, used by nc and by plain sockets."""

import os
import re
import signal
import socket
import time
import unittest

from support import BIN, Program, run, skip_without

skip_without("nc")


class Echo(unittest.TestCase):
    def test_nc_gets_back_what_it_sends(self):
        with Program("echo_server") as server:
            done = run("nc", "-N", "127.0.0.1", server.port, input=b"hello\nworld\n")
            self.assertEqual(done.stdout, b"hello\nworld\n")

    def test_the_client_checks_many_connections_and_sizes(self):
        with Program("echo_server") as server:
            for connections, messages, size in ((1, 100, 1), (50, 50, 106), (3, 3, 2_000_000)):
                done = run(BIN / "echo_client", "--connect", f"127.0.0.1:{server.port}", "--connections", connections,
                           "--messages", messages, "--size", size)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(b"all correct", done.stdout)

    def test_with_busy_poll_it_does_not_sleep_between_two_messages(self):
        def sleeps(pid):
            with open(f"/proc/{pid}/status", encoding="ascii") as status:
                return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", status.read(), re.M).group(1))

        with Program("echo_server", "--busy-poll", "1000000") as server, \
                server.socket() as peer:
            peer.sendall(b"first")
            self.assertEqual(peer.recv(5), b"first")
            before = sleeps(server.process.pid)
            for _ in range(200):
                peer.sendall(b"x")
                self.assertEqual(peer.recv(1), b"x")
            self.assertLess(sleeps(server.process.pid) - before, 20)
        self.assertEqual(run(BIN / "echo_server", "--busy-poll", "-1").returncode, 2)

    def test_half_close_is_answered_with_everything_and_an_end(self):
        with Program("echo_server") as server, server.socket() as peer:
            peer.sendall(b"x" * 100_000)
            peer.shutdown(socket.SHUT_WR)
            received = b""
            while chunk := peer.recv(65_536):
                received += chunk
            self.assertEqual(received, b"x" * 100_000)

    def test_a_reader_that_never_reads_costs_no_memory(self):
        def resident(pid):
            with open(f"/proc/{pid}/statm", encoding="ascii") as statm:
                return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        with Program("echo_server") as server, server.socket() as peer:
            peer.settimeout(0.3)
            before = resident(server.process.pid)
            sent = 0
            try:
                while sent < 500_000_000:
                    sent += peer.send(b"x" * 1_000_000)
            except TimeoutError:
                pass
            self.assertLess(sent, 500_000_000, "the server must stop reading")
            self.assertLess(resident(server.process.pid) - before, 32 << 20)

    def test_signals_end_it_with_0_after_draining(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with Program("echo_server") as server, server.socket() as peer:
                peer.sendall(b"last")
                self.assertEqual(peer.recv(4), b"last")
                self.assertEqual(server.stop(number), 0)
                self.assertEqual(peer.recv(4), b"")

    def test_a_second_signal_forces_the_exit(self):
        with Program("echo_server", "--drain", "60") as server, \
                server.socket() as peer:
            peer.settimeout(0.3)
            try:
                while True:  # until the echo cannot be written, so that the connection does not end on its own
                    peer.send(b"x" * 1_000_000)
            except TimeoutError:
                pass
            server.process.send_signal(signal.SIGTERM)
            for _ in range(100):  # until the first signal is taken: a second one would be merged with it
                time.sleep(0.01)
                try:
                    server.socket().close()
                except OSError:
                    break
            self.assertEqual(server.stop(signal.SIGTERM), 128 + signal.SIGTERM)

    def test_bad_arguments_exit_with_2_and_name_the_argument(self):
        for arguments in (("--listen", "nonsense"), ("--listen", "127.0.0.1:99999"), ("--backend", "kqueue"),
                          ("--drain", "-1"), ("--no-such-option",)):
            done = run(BIN / "echo_server", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(arguments[0].encode(), done.stderr + done.stdout)

    def test_help_and_version(self):
        self.assertIn(b"--backend", run(BIN / "echo_server", "--help").stdout)
        self.assertIn(b"0.1.0", run(BIN / "echo_server", "--version").stdout)

    def test_a_port_in_use_is_said_and_the_exit_code_is_1(self):
        with Program("echo_server") as server:
            done = run(BIN / "echo_server", "--listen", f"127.0.0.1:{server.port}")
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"Address already in use", done.stderr)

    def test_the_backend_can_be_chosen(self):
        with Program("echo_server", "--backend", "epoll") as server:
            self.assertEqual(server.backend, "epoll")

    def test_a_wrong_GYRE_BACKEND_is_refused(self):
        done = run(BIN / "echo_server", "--listen", "127.0.0.1:0", env={**os.environ, "GYRE_BACKEND": "fast"})
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"GYRE_BACKEND=fast", done.stderr)


if __name__ == "__main__":
    unittest.main()
