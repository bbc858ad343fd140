"""gyre serve, as an operator uses it: settings, messages, metrics, logs, signals."""

import json
import os
import resource
import signal
import subprocess
import tempfile
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

from raw_http import LARGE, WithTree, read_all
from support import BIN, Serve, ask, run


class Operating(WithTree):
    def test_the_settings_come_from_the_environment_too_and_flags_win(self):
        with Serve(self.root, environment={"GYRE_HEADER": "X-From: environment", "GYRE_LISTING": "false"}) as server:
            status, fields, _ = ask(server.port, "/")
            self.assertEqual((status, fields["x-from"]), (404, "environment"))
        with Serve(self.root, "--header", "X-From: flag", environment={"GYRE_HEADER": "X-From: environment"}) as server:
            self.assertEqual(ask(server.port, "/a.txt")[1]["x-from"], "flag")

    def test_a_variable_may_hold_several_fields_or_origins(self):
        environment = {"GYRE_HEADER": "X-One: 1, 2\nX-Two: 3", "GYRE_CORS": "https://a.example,https://b.example"}
        with Serve(self.root, environment=environment) as server:
            fields = ask(server.port, "/a.txt", headers={"Origin": "https://b.example"})[1]
            self.assertEqual((fields["x-one"], fields["x-two"]), ("1, 2", "3"))
            self.assertEqual(fields["access-control-allow-origin"], "https://b.example")

    def test_the_directory_may_stand_behind_a_flag_that_can_be_repeated(self):
        for flag in (("--header", "X-One: 1"), ("--cors", "*")):
            done = run(BIN / "gyre", "serve", *flag, self.root / "nothing", timeout=20)
            self.assertIn(b"Directory does not exist", done.stderr)

    def test_a_wrong_variable_is_named(self):
        for name, value in (("GYRE_THREADS", "two"), ("GYRE_COMPRESS", "maybe"), ("GYRE_MAX_TARGET", "0")):
            done = run(BIN / "gyre", "serve", self.root, timeout=20, env={**os.environ, name: value})
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"The value comes from {name} in the environment.\n".encode(), done.stderr)
            self.assertEqual(done.stderr.count(b"environment"), 1)
        done = run(BIN / "gyre", "serve", self.root, "--threads", "x", timeout=20,
                   env={**os.environ, "GYRE_THREADS": "two"})
        self.assertNotIn(b"environment", done.stderr)
        done = run(BIN / "gyre", "serve", self.root, "--threads", "0", timeout=20,
                   env={**os.environ, "GYRE_THREADS": "two"})
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"error: GYRE_THREADS=two: expected a number", done.stderr)

    def test_it_says_where_it_listens_and_what_holds_without_colours(self):
        with Serve(self.root, "--threads", 2, "--admin", "127.0.0.1:0") as server:
            text = "".join(server.lines)
            for word in (str(self.root), f"http://127.0.0.1:{server.port}/", "threads       2", "time-outs", "limits",
                         "1024 per address of the internet, "):
                self.assertIn(word, text)
            self.assertNotIn("\x1b", text)

    def test_wrong_settings_are_named_and_nothing_is_served(self):
        for arguments, word in ((["--listen", "nowhere"], "HOST:PORT"), (["--threads", "-1"], "--threads"),
                                (["--access-log", "xml"], "xml"), (["--header", "nonsense"], "Name: value"),
                                (["--header", "Content-Length: 5"], "Content-Length"),
                                (["--idle-timeout", "0"], "--idle-timeout"),
                                (["--idle-timeout", "nan"], "expected seconds"),
                                (["--max-target", "0"], "at least 1, got"),
                                (["--max-header-bytes", "9" * 30], "at least 1, got"),
                                (["--max-upload", "-1"], "4gb, got"),
                                (["--max-upload", "b"], "4gb, got"), (["--cache-control", "a\nb"], "Cache-Control"),
                                (["--unknown"], "--unknown")):
            done = run(BIN / "gyre", "serve", self.root, *arguments, timeout=20)
            self.assertIn(done.returncode, (1, 2), arguments)
            self.assertIn(word.encode(), done.stderr, arguments)
        done = run(BIN / "gyre", "serve", self.root / "nothing", timeout=20)
        self.assertEqual(done.returncode, 2)

    def test_an_address_that_is_taken_is_named_and_not_shared(self):
        """A server waits for two seconds for its address, so the attempts run at the same time."""
        def second(server, threads):
            return run(BIN / "gyre", "serve", self.root, "--threads", threads, "--listen", f"127.0.0.1:{server.port}",
                       timeout=20)

        with Serve(self.root, "--threads", 1) as one, Serve(self.root, "--threads", 2) as two:
            with ThreadPoolExecutor(2) as pool:
                for server, done in zip((one, two), pool.map(second, (one, two), (1, 2))):
                    message = f"error: listen 127.0.0.1:{server.port}: Address already in use\n"
                    self.assertEqual((done.returncode, done.stderr), (1, message.encode()))

    def test_the_address_of_a_server_that_was_killed_is_free_for_the_next_one(self):
        path = f"{self.uploads}/admin"
        for admin in (f"unix:{path}", "127.0.0.1:0"):
            with Serve(self.root, "--admin", admin) as server:
                server.process.kill()
                server.process.wait()
                server.wait_until_it_stops_accepting(("127.0.0.1", server.admin) if server.admin else path)
                with Serve(self.root, "--admin", f"127.0.0.1:{server.admin}" if server.admin else admin):
                    pass

    def test_an_admin_address_may_be_a_path(self):
        with Serve(self.root, "--admin", f"unix:{self.uploads}/admin") as server:
            self.assertIn(f"  admin         unix:{self.uploads}/admin (/metrics)\n", server.lines)

    def test_sizes_have_units(self):
        for text, size in (("64kb", 65536), ("1.5 GB", 3 << 29), ("4GiB", 4 << 30), ("10", 10)):
            with Serve(self.root, "--upload", self.uploads, "--max-upload", text) as server:
                self.assertIn(f"at most {size} bytes", "".join(server.lines))

    def test_health_readiness_and_metrics(self):
        with Serve(self.root, "--admin", "127.0.0.1:0", "--threads", 2) as server:
            self.assertEqual(ask(server.admin, "/healthz")[0], 200)
            self.assertEqual(ask(server.admin, "/readyz")[0], 200)
            for _ in range(10):
                ask(server.port, "/a.txt")
            ask(server.port, "/nothing")
            text = ask(server.admin, "/metrics")[2].decode()
            self.assertIn('http_requests_total{code="200"} 10\n', text)
            self.assertIn('http_requests_total{code="404"} 1\n', text)
            self.assertIn("http_request_duration_seconds_count 11\n", text)
            self.assertRegex(text, r"process_resident_memory_bytes \d+\n")

    def test_the_log_has_a_line_for_each_request(self):
        for kind in ("text", "json", "off"):
            with tempfile.TemporaryFile("w+") as log:
                with Serve(self.root, "--access-log", kind, output=log) as server:
                    ask(server.port, "/a.txt?x=%22%0a")
                    ask(server.port, "/nothing", headers={"User-Agent": 'evil"\\'})
                    server.stop()
                log.seek(0)
                lines = log.read().splitlines()
            self.assertEqual(len(lines), 0 if kind == "off" else 2, lines)
            if kind == "json":
                entries = [json.loads(line) for line in lines]
                self.assertEqual([entry["status"] for entry in entries], [200, 404])
            if kind == "text":
                self.assertIn('"GET /a.txt?x=%22%0a HTTP/1.1" 200 6000', lines[0])

    def test_limits_and_time_outs_are_those_of_the_flags(self):
        with Serve(self.root, "--max-target", 100, "--max-header-fields", 5, "--header-timeout", 0.2,
                   "--idle-timeout", 0.2) as server:
            self.assertEqual(ask(server.port, "/" + "a" * 200)[0], 414)
            self.assertEqual(ask(server.port, "/", headers={f"X-{i}": "1" for i in range(9)})[0], 431)
            with server.socket() as peer:
                peer.sendall(b"GET / HT")
                self.assertIn(b" 408 ", read_all(peer))
            with server.socket() as peer:
                peer.sendall(b"GET /a.txt HTTP/1.1\r\nHost: localhost\r\n\r\n")
                self.assertTrue(read_all(peer).endswith(b"alpha\n"))  # then closed, because it is idle


class Ending(WithTree):
    def test_a_thread_that_cannot_start_ends_the_server_without_a_signal(self):
        """The failure of a thread is not a signal. A signal from outside is then the first, and does not end the
        process at once."""
        command = [str(BIN / "gyre"), "serve", str(self.root), "--listen", "127.0.0.1:0", "--threads", "3"]
        failures = 0
        for descriptors in range(12, 32):
            limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
            with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=limit) as server:
                for line in server.stderr:
                    if line.startswith(("error:", "listening")):
                        server.terminate()
                        break
                said = line + server.stderr.read()
                self.assertIn(server.wait(20), (0, 1, -signal.SIGTERM), said)  # 128 + SIGTERM would be a second signal
                failures += "listening" in said and "error:" in said
        self.assertGreater(failures, 0)

    def test_what_is_under_way_is_finished_and_it_is_not_ready_meanwhile(self):
        content = LARGE * 8  # more than the kernel buffers
        (self.root / "large").write_bytes(content)
        with Serve(self.root, "--admin", "127.0.0.1:0") as server, \
                server.socket() as peer:
            peer.sendall(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
            received = peer.recv(4096)
            server.process.send_signal(signal.SIGTERM)
            deadline = time.monotonic() + 10
            while ask(server.admin, "/readyz")[0] != 503 and time.monotonic() < deadline:
                pass
            self.assertEqual(ask(server.admin, "/readyz")[0], 503)
            server.wait_until_it_stops_accepting()
            self.assertTrue((received + read_all(peer)).endswith(content))
            self.assertEqual(server.process.wait(20), 0)


if __name__ == "__main__":
    unittest.main()
