"""The examples that await libraries with callbacks: against real servers, with errors, time-outs and a cancel."""

import http.server
import os
import shutil
import signal
import socket
import socketserver
import struct
import subprocess
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support import BIN, free_port, serve_in_thread


def run(name, *arguments):
    environment = {**os.environ, "no_proxy": "*"}
    return subprocess.run([str(BIN / name), *arguments], capture_output=True, text=True, timeout=30, env=environment)


def needs(name):
    return unittest.skipUnless(Path(BIN, name).exists(), f"{name} is not built: its library is not installed")


class Serving:
    """A socketserver server in a thread."""

    def __init__(self, kind, handler):
        self.server = kind(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.where = "127.0.0.1:%d" % self.server.server_address[1]

    def __enter__(self):
        serve_in_thread(self.server)
        return self.where

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Silent:
    """Accepts connections and never answers. `asked` is set once a client has sent something."""

    def __enter__(self):
        self.asked, self.ended = threading.Event(), threading.Event()
        silent = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                if self.request.recv(100):
                    silent.asked.set()
                silent.ended.wait(20)

        self.serving = Serving(socketserver.ThreadingTCPServer, Handler)
        self.where = self.serving.__enter__()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.serving.__exit__()


class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if not self.path[1:].isdigit():
            self.send_error(404)
            return
        body = b"x" * int(self.path[1:])
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Names(socketserver.BaseRequestHandler):
    """A DNS server with the IPv4 addresses of a few names. It ignores the first query for "lost" and all queries for
    "silent"."""

    asked = threading.Event()
    lost = set()

    def handle(self):
        question, reply_to = self.request
        at, labels = 12, []
        while question[at]:
            labels.append(question[at + 1:at + 1 + question[at]].decode())
            at += 1 + question[at]
        name, kind = labels[0], struct.unpack("!H", question[at + 1:at + 3])[0]
        self.asked.set()
        if name == "silent" or (name == "lost" and (name, kind) not in self.lost):
            self.lost.add((name, kind))
            return
        addresses = [socket.inet_aton(f"192.0.2.{len(name)}")] if kind == 1 and name != "none" else []
        code = 3 if name == "none" else 0
        reply = question[:2] + struct.pack("!HHHHH", 0x8180 | code, 1, len(addresses), 0, 0) + question[12:at + 5]
        for each in addresses:
            reply += struct.pack("!HHHIH", 0xC00C, 1, 1, 60, 4) + each
        reply_to.sendto(reply, self.client_address)


class Echo(socketserver.BaseRequestHandler):
    def handle(self):
        while data := self.request.recv(1000):
            self.request.sendall(data)


class Callbacks(unittest.TestCase):
    def end_when(self, asked, name, *arguments):
        """Ends the program while it waits for an answer. It must exit with 143, not with the 1 of a time-out."""
        began = subprocess.Popen([str(BIN / name), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 text=True,
                                 env={**os.environ, "no_proxy": "*"})
        try:
            self.assertTrue(asked.wait(20))
            began.send_signal(signal.SIGTERM)
            said = began.communicate(timeout=15)
            self.assertEqual(began.returncode, 143, said)
        finally:
            began.kill()
            began.wait()

    @needs("curl_multi")
    def test_curl_fetches_several_and_tells_what_failed(self):
        with Serving(http.server.ThreadingHTTPServer, Page) as where:
            base = f"http://{where}"
            done = run("curl_multi", f"{base}/10", f"{base}/5000000", f"{base}/0")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(sorted(done.stdout.splitlines()),
                             sorted([f"{base}/0: 200, 0 bytes", f"{base}/10: 200, 10 bytes",
                                     f"{base}/5000000: 200, 5000000 bytes"]))
            refused = f"http://127.0.0.1:{free_port()}/"
            done = run("curl_multi", refused, f"{base}/missing", f"{base}/1")
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"{base}/missing: 404, ", done.stdout)
            self.assertIn(f"{base}/1: 200, 1 bytes\n", done.stdout)
            self.assertRegex(done.stdout, f"{refused}: .*connect")

    @needs("curl_multi")
    def test_curl_is_cancelled(self):
        with Silent() as silent:
            self.end_when(silent.asked, "curl_multi", *[f"http://{silent.where}/{n}" for n in range(5)])

    @needs("c_ares")
    def test_c_ares_resolves_a_name(self):
        with Serving(socketserver.ThreadingUDPServer, Names) as where:
            self.assertEqual(run("c_ares", "--server", where, "one.test").returncode, 0)

    @needs("c_ares")
    def test_c_ares_is_cancelled(self):
        with Serving(socketserver.ThreadingUDPServer, Names) as where:
            Names.asked.clear()
            self.end_when(Names.asked, "c_ares", "--server", where, "silent.test")

    @needs("hiredis")
    @unittest.skipUnless(shutil.which("redis-server"), "there is no redis-server")
    def test_hiredis_sends_commands_to_a_server(self):
        port = free_port()
        server = subprocess.Popen(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "",
                                   "--appendonly", "no"],
                                  stdout=subprocess.DEVNULL)
        try:
            for _ in range(200):
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=10).close()
                    break
                except ConnectionRefusedError:
                    time.sleep(0.05)
            for _ in range(2):
                done = run("hiredis", f"127.0.0.1:{port}")
                self.assertEqual((done.returncode, done.stdout), (0, "SET: OK\nGET: 41\nINCR: 42\nPING: PONG\n"),
                                 done.stderr)
        finally:
            server.terminate()
            server.wait(20)

    @needs("hiredis")
    def test_hiredis_tells_errors(self):
        done = run("hiredis", f"127.0.0.1:{free_port()}")
        self.assertEqual(done.returncode, 1)
        self.assertIn("Connection refused", done.stderr)

        class Hangs_up(socketserver.BaseRequestHandler):
            def handle(self):
                self.request.recv(1000)

        with Serving(socketserver.ThreadingTCPServer, Hangs_up) as where:
            done = run("hiredis", where)
            self.assertEqual(done.returncode, 1)
            self.assertIn("Server closed the connection", done.stderr)

    @needs("hiredis")
    def test_hiredis_is_cancelled(self):
        with Silent() as silent:
            self.end_when(silent.asked, "hiredis", silent.where)

    @needs("libuv")
    def test_libuv_echoes_over_several_connections(self):
        with Serving(socketserver.ThreadingTCPServer, Echo) as where:
            texts = ["one", "two", "x" * 100_000]
            done = run("libuv", where, *texts)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(sorted(done.stdout.splitlines()), sorted(texts))

    @needs("libuv")
    def test_libuv_tells_errors(self):
        done = run("libuv", f"127.0.0.1:{free_port()}", "text")
        self.assertEqual((done.returncode, done.stderr), (1, "error: connection refused\n"))

    @needs("libuv")
    def test_libuv_is_cancelled(self):
        with Silent() as silent:
            self.end_when(silent.asked, "libuv", silent.where, "one", "two")

    @needs("libuv_host")
    def test_a_loop_of_libuv_runs_tasks(self):
        with Serving(socketserver.ThreadingTCPServer, Echo) as where:
            done = run("libuv_host", where, "text")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout, "text\nthe host has worked meanwhile\n")

    @needs("libuv_host")
    def test_a_loop_of_libuv_runs_tasks_that_fail(self):
        done = run("libuv_host", f"127.0.0.1:{free_port()}", "text")
        self.assertEqual(done.returncode, 1)
        self.assertIn("Connection refused", done.stderr)


class TimeOuts(unittest.TestCase):
    """The programs wait for a server that does not answer. They all wait at the same time."""

    @classmethod
    def setUpClass(cls):
        cls.silent = cls.enterClassContext(Silent())
        cls.page = cls.enterClassContext(Serving(http.server.ThreadingHTTPServer, Page))
        names = cls.enterClassContext(Serving(socketserver.ThreadingUDPServer, Names))
        Names.lost.clear()
        commands = (("curl_multi", f"http://{cls.silent.where}/", f"http://{cls.page}/3"),
                    ("c_ares", "--server", names, "one.test", "three.test", "none.test", "lost.test", "silent.test"),
                    ("hiredis", cls.silent.where), ("libuv", cls.silent.where, "one", "two"),
                    ("libuv_host", cls.silent.where, "text"))
        pool = cls.enterClassContext(ThreadPoolExecutor(len(commands)))
        cls.running = {name: pool.submit(run, name, *arguments) for name, *arguments in commands
                       if Path(BIN, name).exists()}

    @needs("curl_multi")
    def test_curl_gives_up_after_a_time_and_the_others_go_on(self):
        done = self.running["curl_multi"].result()
        self.assertEqual(done.returncode, 1, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], f"http://{self.page}/3: 200, 3 bytes")
        self.assertTrue(lines[1].startswith(f"http://{self.silent.where}/: timeout: timed out after 2 s"), lines[1])

    @needs("c_ares")
    def test_c_ares_resolves_several_and_asks_again(self):
        done = self.running["c_ares"].result()
        self.assertEqual(done.returncode, 1, done.stderr)
        lines = sorted(done.stdout.splitlines())
        self.assertEqual(lines[0], "lost.test: 192.0.2.4")
        self.assertRegex(lines[1], "none.test: Domain name not found")
        self.assertEqual(lines[2], "one.test: 192.0.2.3")
        self.assertTrue(lines[3].startswith("silent.test: timeout: timed out after 1 s"), lines[3])
        self.assertEqual(lines[4], "three.test: 192.0.2.5")

    def expect_a_time_out(self, name, said=""):
        done = self.running[name].result()
        self.assertEqual((done.returncode, done.stdout), (1, said))
        self.assertIn("timeout: timed out after 2 s", done.stderr)

    @needs("hiredis")
    def test_hiredis_gives_up_after_a_time(self):
        self.expect_a_time_out("hiredis")

    @needs("libuv")
    def test_libuv_gives_up_after_a_time(self):
        self.expect_a_time_out("libuv")

    @needs("libuv_host")
    def test_a_task_on_a_loop_of_libuv_gives_up_after_a_time(self):
        self.expect_a_time_out("libuv_host", "the host has worked meanwhile\n")


if __name__ == "__main__":
    unittest.main()
