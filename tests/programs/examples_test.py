"""The examples do what they say."""

import contextlib
import http.server
import os
import socket
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

from support import BIN, free_port, serve_in_thread


def run(name, *arguments, timeout=30):
    return subprocess.run([str(BIN / name), *arguments], capture_output=True, text=True, timeout=timeout)


class Examples(unittest.TestCase):
    def test_structured(self):
        done = run("02_structured")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "first: b fetched\nboth: c fetched, d fetched\ntimed out\n")

    def test_call_stack(self):
        done = run("03_call_stack")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("factorial", done.stdout + done.stderr)

    def test_producer_and_consumers_do_every_job_once(self):
        done = run("04_producer_consumer")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[-1], "all done")
        self.assertEqual(sorted(int(line.split()[-1]) for line in lines[:-1]), list(range(1, 13)))

    def test_chat_brings_what_one_says_to_the_others(self):
        port = free_port()
        server = subprocess.Popen([str(BIN / "05_chat_server"), f"127.0.0.1:{port}"], stderr=subprocess.PIPE, text=True)
        try:
            self.assertIn("chatting", server.stderr.readline())
            guests, sockets = [], []
            for number in (1, 2):
                for _ in range(100):
                    try:
                        guest = socket.create_connection(("127.0.0.1", port), timeout=10)
                        break
                    except ConnectionRefusedError:
                        threading.Event().wait(0.02)
                sockets.append(guest)
                guests.append(guest.makefile("rw", newline="\n"))
                self.assertEqual(guests[-1].readline(), f"welcome, guest {number}\n")
            self.assertEqual(guests[0].readline(), "guest 2: joined\n")
            guests[1].write("hello\n")
            guests[1].flush()
            self.assertEqual(guests[0].readline(), "guest 2: hello\n")
            guests[0].write("hello yourself\n")
            guests[0].flush()
            self.assertEqual(guests[1].readline(), "guest 1: hello yourself\n")
            for each in guests + sockets:
                each.close()
        finally:
            server.terminate()
            self.assertEqual(server.wait(15), 0)
            server.stderr.close()

    def test_port_scanner_finds_the_open_port(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
            done = run("06_port_scanner", "127.0.0.1", str(max(1, port - 20)), str(min(65535, port + 20)))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{port} is open\n", done.stdout)
        self.assertEqual(run("06_port_scanner").returncode, 2)

    def test_parallel_download_fetches_all_and_names_what_failed(self):
        class Page(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                if self.path == "/missing":
                    self.send_error(404)
                    return
                body = b"x" * int(self.path[1:])
                self.send_response(200)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
        serve_in_thread(server)
        try:
            base = f"127.0.0.1:{server.server_address[1]}"
            done = run("07_parallel_download", f"{base}/10", f"{base}/100000")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(sorted(done.stdout.splitlines()),
                             sorted([f"{base}/10: 10 bytes", f"{base}/100000: 100000 bytes"]))
            done = run("07_parallel_download", f"{base}/missing")
            self.assertEqual(done.returncode, 1)
            self.assertIn("404", done.stdout)
        finally:
            server.shutdown()
            server.server_close()

    def test_udp_echo_sends_datagrams_back(self):
        server = subprocess.Popen([str(BIN / "08_udp_echo"), "127.0.0.1:0"], stderr=subprocess.PIPE, text=True)
        try:
            host, port = server.stderr.readline().split()[-1].split(":")
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
                client.settimeout(10)
                for word in (b"one", b"", b"three"):
                    client.sendto(word, (host, int(port)))
                    self.assertEqual(client.recvfrom(100)[0], word)
        finally:
            server.terminate()
            self.assertEqual(server.wait(15), 143)
            server.stderr.close()

    @contextlib.contextmanager
    def asio_server(self, name):
        """The process, and two clients whose words have come back."""
        server = subprocess.Popen([str(BIN / name), "0"], stderr=subprocess.PIPE, text=True)
        try:
            host, port = server.stderr.readline().split()[-1].split(":")
            with socket.create_connection((host, int(port)), 10) as one, \
                    socket.create_connection((host, int(port)), 10) as other:
                for client, word in ((one, b"first"), (other, b"second"), (one, b"third")):
                    client.sendall(word)
                    self.assertEqual(client.recv(100), word)
                yield server, one, other
        finally:
            server.kill()
            server.wait()
            server.stderr.close()

    @unittest.skipUnless(Path(BIN, "12_asio").exists(), "there is no Asio")
    def test_asio_echoes_to_several_and_ends_when_told(self):
        with self.asio_server("12_asio") as (server, one, other):
            one.shutdown(socket.SHUT_WR)
            self.assertEqual(one.recv(100), b"")
            server.terminate()
            self.assertEqual(server.wait(15), 143)
            self.assertEqual(other.recv(100), b"")

    @unittest.skipUnless(Path(BIN, "13_asio_one_function").exists(), "there is no Asio")
    def test_asio_server_that_is_half_converted_ends_its_sessions_when_told(self):
        with self.asio_server("13_asio_one_function") as (server, one, other):
            server.terminate()  # while both sessions wait in Asio
            self.assertEqual(server.wait(15), 0, server.stderr.read())
            self.assertEqual((one.recv(100), other.recv(100)), (b"", b""))

    def test_copy_file_copies_and_shows_its_end(self):
        with tempfile.TemporaryDirectory() as folder:
            source, target = Path(folder, "source"), Path(folder, "target")
            source.write_bytes(os.urandom(5_000_000))
            done = run("09_copy_file", str(source), str(target))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(source.read_bytes(), target.read_bytes())
            self.assertTrue(done.stderr.endswith("[" + "#" * 40 + "] 100%\n"), done.stderr)
            done = run("09_copy_file", str(source) + ".none", str(target))
            self.assertEqual(done.returncode, 1)
            self.assertIn("No such file or directory", done.stderr)

    def test_subprocess_pipeline_counts_words(self):
        done = subprocess.run([str(BIN / "10_subprocess_pipeline")], input="b a c a b a " * 1000, capture_output=True,
                              text=True, timeout=30)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([line.split() for line in done.stdout.splitlines()],
                         [["3000", "a"], ["2000", "b"], ["1000", "c"]])

    def test_watch_directory_tells_what_changes(self):
        with tempfile.TemporaryDirectory() as folder:
            watching = subprocess.Popen([str(BIN / "11_watch_directory"), folder], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
            try:
                self.assertEqual(watching.stderr.readline(), "watching 1 directories\n")
                Path(folder, "new").write_text("x")
                self.assertEqual(watching.stdout.readline(), f"{folder}/new: created\n")
                self.assertEqual(watching.stdout.readline(), f"{folder}/new: written\n")
            finally:
                watching.terminate()
                self.assertEqual(watching.wait(15), 143)
                watching.stdout.close()
                watching.stderr.close()


if __name__ == "__main__":
    unittest.main()
