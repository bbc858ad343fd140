"""Programs whose standard error or output is closed, full, or without a reader: they start, go on and end as usual."""

import contextlib
import os
import signal
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from scripted import answering
from support import BIN, ask, free_port


class Output:
    """The writing end of a pipe that nobody reads for now."""

    def __init__(self, fill=False):
        self.reader, self.writer = os.pipe()
        if fill:
            os.set_blocking(self.writer, False)
            for piece in (b"f" * 4096, b"f"):
                with contextlib.suppress(BlockingIOError):
                    while True:
                        os.write(self.writer, piece)
            os.set_blocking(self.writer, True)

    def leave(self):
        os.close(self.reader)
        self.reader = None

    def read(self):
        """Returns what is in the pipe, without waiting."""
        os.set_blocking(self.reader, False)
        text = b""
        with contextlib.suppress(BlockingIOError):
            while piece := os.read(self.reader, 65_536):
                text += piece
        return text.lstrip(b"f").decode()

    def close(self):
        os.close(self.writer)
        if self.reader is not None:
            os.close(self.reader)


def answers(port):
    """Waits until something listens on the port. Returns false after 20 s."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            ask(port)
            return True
        time.sleep(0.01)
    return False


class Diagnostics(unittest.TestCase):
    def start(self, *command, **streams):
        process = subprocess.Popen([str(BIN / command[0]), *map(str, command[1:])], **streams)

        def end():
            process.kill()
            process.wait()
        self.addCleanup(end)
        return process

    def output(self, **options):
        made = Output(**options)
        self.addCleanup(made.close)
        return made

    def full_device(self):
        device = open("/dev/full", "w")
        self.addCleanup(device.close)
        return device

    def test_a_server_starts_and_stops_whatever_standard_error_is(self):
        gone, full = self.output(), self.output(fill=True)
        gone.leave()
        streams = {"closed": {"preexec_fn": lambda: os.close(2)}, "without a reader": {"stderr": gone.writer},
                   "a full pipe": {"stderr": full.writer}, "a full device": {"stderr": self.full_device()}}
        commands = [("gyre", "serve", "."), ("gyre", "serve", ".", "--tls", "auto"),
                    ("gyre", "proxy", "--to", "http://127.0.0.1:1"), ("hello_server",)]
        for command in commands:
            for name, stream in streams.items():
                with self.subTest(command=command, stderr=name):
                    port = free_port()
                    server = self.start(*command, "--listen", f"127.0.0.1:{port}", stdout=subprocess.DEVNULL, **stream)
                    self.assertTrue(answers(port) if "--tls" not in command else self.accepts(port))
                    server.send_signal(signal.SIGTERM)
                    self.assertEqual(server.wait(20), 0)

    def test_a_server_starts_and_stops_although_nobody_reads_its_standard_output(self):
        for command in (("gyre", "serve", "."), ("gyre", "proxy", "--to", "http://127.0.0.1:1"), ("hello_server",)):
            with self.subTest(command=command):
                port, full = free_port(), self.output(fill=True)
                server = self.start(*command, "--listen", f"127.0.0.1:{port}", stdout=full.writer,
                                    stderr=subprocess.DEVNULL)
                self.assertTrue(answers(port))
                server.send_signal(signal.SIGTERM)
                self.assertEqual(server.wait(20), 0)

    def accepts(self, port):
        """Waits until the server accepts a connection, and ends a handshake that it has to report."""
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 5) as peer:
                peer.sendall(b"no handshake\r\n\r\n")
                while peer.recv(100):
                    pass
                return True
            time.sleep(0.01)
        return False

    def fail_for_a_second(self, port):
        """Sends requests until the proxy must have reported one: it does so once a second."""
        until = time.monotonic() + 1.2
        while time.monotonic() < until:
            self.assertEqual(ask(port)[0], 502)

    def test_a_proxy_goes_on_when_nobody_reads_its_messages(self):
        for what in ("closed", "without a reader", "a full pipe"):
            with self.subTest(stderr=what):
                port, errors = free_port(), self.output(fill=what == "a full pipe")
                options = {"preexec_fn": lambda: os.close(2)} if what == "closed" else {"stderr": errors.writer}
                proxy = self.start("gyre", "proxy", "--listen", f"127.0.0.1:{port}", "--to", "http://127.0.0.1:1",
                                   "--access-log", "off", stdout=subprocess.DEVNULL, **options)
                self.assertTrue(answers(port))
                if what == "without a reader":
                    errors.leave()
                self.fail_for_a_second(port)
                self.assertIsNone(proxy.poll())
                if what == "a full pipe":
                    errors.read()
                    self.fail_for_a_second(port)
                    self.assertRegex(errors.read(), r"^gyre: \d+ messages on standard error were lost\ngyre proxy: ")
                proxy.send_signal(signal.SIGTERM)
                self.assertEqual(proxy.wait(20), 0)

    def test_files_are_fetched_although_standard_error_is_closed_or_full(self):
        with answering("hello") as server, tempfile.TemporaryDirectory() as scratch:
            urls = [f"http://127.0.0.1:{server.port}/{name}" for name in "abc"]
            for number, options in enumerate(({"preexec_fn": lambda: os.close(2)}, {"stderr": self.full_device()})):
                place = Path(scratch, str(number))
                place.mkdir()
                fetch = self.start("gyre", "fetch", "-O", *urls, cwd=place, **options)
                self.assertEqual(fetch.wait(20), 0)
                files = {each.name: each.read_text() for each in place.iterdir()}
                self.assertEqual(files, dict.fromkeys("abc", "hello"))

    def test_bad_arguments_end_a_program_whose_messages_nobody_reads(self):
        gone, full = self.output(), self.output(fill=True)
        gone.leave()
        for stream in ({"stderr": gone.writer}, {"stderr": full.writer}, {"preexec_fn": lambda: os.close(2)}):
            self.assertEqual(self.start("gyre", "serve", "--no-such-option", **stream).wait(20), 2)

    def test_results_that_cannot_be_written_are_a_failure_with_a_message(self):
        for command in (("gyre", "doctor"), ("gyre", "--help"), ("gyre", "--version")):
            done = subprocess.run([str(BIN / command[0]), *command[1:]], stdout=self.full_device(),
                                  stderr=subprocess.PIPE, text=True, timeout=20)
            self.assertEqual((done.returncode, done.stderr),
                             (1, "error: write standard output: No space left on device\n"), command)


if __name__ == "__main__":
    unittest.main()
