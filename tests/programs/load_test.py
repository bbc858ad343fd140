"""gyre load: what it counts, against `gyre serve` and against servers that misbehave."""

import json
import signal
import subprocess
import threading
import time
import unittest

from scripted import Scripted
from support import BIN, Serve, free_port, run, temporary_folder


def load(port, *arguments, path="/a.txt", timeout=60):
    """Returns the exit code and the results."""
    done = run(BIN / "gyre", "load", f"http://127.0.0.1:{port}{path}", "--json", *arguments, timeout=timeout)
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr.decode()


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Load(unittest.TestCase):
    def setUp(self):
        self.root = temporary_folder(self)
        (self.root / "a.txt").write_text("hello\n")

    def test_counts_exactly_the_requests_that_were_asked_for(self):
        with Serve(self.root) as server:
            for arguments in ((), ("--threads", "2"), ("--no-keep-alive",), ("--connections", "3")):
                code, results = load(server.port, "--requests", "1001", *arguments)
                self.assertEqual((code, results["responses"], results["statuses"], results["errors"]),
                                 (0, 1001, {"200": 1001}, {}))
                made = results["connections_made"]
                self.assertEqual(made, 1001 if "--no-keep-alive" in arguments else 3 if "3" in arguments else 64)

    def test_https_is_measured_like_http(self):
        with Serve(self.root, "--tls", "auto") as server:
            for arguments in ((), ("--no-keep-alive",), ("--threads", "2")):
                done = run(BIN / "gyre", "load", f"https://127.0.0.1:{server.port}/a.txt", "--json", "--insecure", "-n",
                           "200", "-c", "4", *arguments)
                results = json.loads(done.stdout)
                self.assertEqual((done.returncode, results["statuses"], results["errors"]), (0, {"200": 200}, {}))

    def test_statuses_are_counted_and_are_no_errors(self):
        with Serve(self.root) as server:
            code, results = load(server.port, "--requests", "10", path="/nothing")
            self.assertEqual((code, results["statuses"], results["errors"]), (0, {"404": 10}, {}))

    def test_methods_fields_and_bodies_are_sent_as_given(self):
        seen = []

        def serve(peer, _):
            text = b""
            while b"--end--" not in text:
                text += peer.recv(1000)
            seen.append(text.decode())
            peer.sendall(OK)

        body = self.root / "body"
        body.write_text("text --end--")
        with Scripted(serve) as server:
            code, _ = load(server.port, "-n", "1", "-c", "1", "-H", "X-One: 1", "-H", "Host: other", "--data",
                           f"@{body}", path="/p?q=1")
            self.assertEqual(code, 0)
            load(server.port, "-n", "1", "-c", "1", "-X", "PUT", "--data", "--end--")
        self.assertEqual(seen[0], "POST /p?q=1 HTTP/1.1\r\nUser-Agent: gyre-load\r\nAccept: */*\r\nX-One: 1\r\n"
                                  "Host: other\r\nContent-Length: 12\r\n\r\ntext --end--")
        self.assertTrue(seen[1].startswith("PUT /a.txt HTTP/1.1\r\nHost: 127.0.0.1:"), seen[1])

    def test_a_rate_is_kept_and_latencies_count_from_when_a_request_was_due(self):
        stall = 0.5

        def serve(peer, _):
            number = 0
            while peer.recv(1000):
                number += 1
                if number == 10:
                    time.sleep(stall)
                peer.sendall(OK)

        with Scripted(serve) as server:
            _, results = load(server.port, "--rate", "200", "--connections", "1", "--duration", "1")
            self.assertEqual((results["responses"], results["errors"]), (200, {}))
            # One request was slow, and those that were due meanwhile waited for it: about 100 of 200.
            self.assertGreater(results["latency_us"]["p90"], stall * 1e6 / 4)
            _, results = load(server.port, "--requests", "200", "--connections", "1")
            self.assertGreater(results["latency_us"]["longest"], stall * 1e6 * 0.9)

    def test_a_server_that_closes_idle_connections_costs_no_errors(self):
        def serve(peer, _):
            peer.recv(1000)
            peer.sendall(OK)  # and closes without having said so

        with Scripted(serve) as server:
            code, results = load(server.port, "--requests", "50", "--connections", "2")
            self.assertEqual((code, results["responses"], results["errors"]), (0, 50, {}))
            self.assertEqual(results["connections_made"], 50)

    def test_failures_are_counted_by_their_reason(self):
        def serve(peer, number):
            peer.recv(1000)
            if number == 0:
                peer.sendall(OK[:-1])
            elif number == 1:
                peer.sendall(b"nonsense\r\n\r\n")
            elif number == 2:
                peer.sendall(OK + b"more")
            elif number == 3:
                time.sleep(2)
            else:
                peer.sendall(OK)

        # The first connection only shows whether anybody answers.
        with Scripted(lambda peer, number: serve(peer, number - 1)) as server:
            code, results = load(server.port, "--requests", "6", "--connections", "1", "--timeout", "0.5")
        self.assertEqual((code, results["responses"]), (1, 2))
        self.assertEqual(results["errors"], {
            "the server closed the connection before the response was complete": 1,
            "bad response: malformed HTTP version": 1, "bad response: bytes follow its end": 1,
            "timed out": 1})

    def test_the_time_limit_is_for_the_whole_response(self):
        def serve(peer, _):
            peer.recv(1000)
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
            for _ in range(300):
                peer.sendall(b"x")
                time.sleep(0.01)

        with Scripted(serve) as server:
            for flags in ((), ("--rate", "100")):
                code, results = load(server.port, "-n", "2", "-c", "1", "--timeout", "0.2", *flags)
                self.assertEqual((code, results["responses"], results["errors"]), (1, 0, {"timed out": 2}))
                self.assertLess(results["seconds"], 3)

    def test_requests_that_still_wait_when_the_time_is_over_are_reported(self):
        with Scripted(lambda peer, _: peer.recv(1000) and peer.recv(1000)) as server:
            code, results = load(server.port, "-c", "3", "--duration", "0.3")
            self.assertEqual((code, results["responses"], results["errors"], results["unfinished"]), (1, 0, {}, 3))
            self.assertGreater(results["max_unfinished_us"], 0.2e6)
            done = run(BIN / "gyre", "load", f"http://127.0.0.1:{server.port}/", "-c", "3", "--duration", "0.3")
            self.assertIn("  unfinished   3  (waited for a response when the time was over, for up to ",
                          done.stdout.decode())

    def test_many_connections_end_with_the_time_and_with_a_signal(self):
        with Serve(self.root) as server:
            for flags, code in ((("--duration", "0.2"), (0, 1)), (("--duration", "100"), (0, 1, 130))):
                process = subprocess.Popen([BIN / "gyre", "load", f"http://127.0.0.1:{server.port}/a.txt", "-c",
                                            "65535", *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                if "100" in flags:
                    time.sleep(0.2)  # any moment will do; before the load begins, it is 130
                    process.send_signal(signal.SIGINT)
                process.communicate(timeout=20)
                self.assertIn(process.returncode, code)
        done = run(BIN / "gyre", "load", "-c", "65536", "http://127.0.0.1:1/")
        self.assertEqual((done.returncode, b"--connections" in done.stderr), (2, True), done)

    def test_an_address_at_which_nobody_answers_is_told_at_once(self):
        port = free_port()
        done = run(BIN / "gyre", "load", f"http://127.0.0.1:{port}/")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"connect 127.0.0.1:{port}: Connection refused", done.stderr.decode())

    def test_a_stop_prints_the_results_so_far(self):
        begun = threading.Event()

        def serve(peer, _):
            while peer.recv(1000):
                peer.sendall(OK)
                begun.set()

        with Scripted(serve) as server:
            process = subprocess.Popen([BIN / "gyre", "load", f"http://127.0.0.1:{server.port}/a.txt", "--duration",
                                        "100", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertTrue(begun.wait(20))
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=20)
            self.assertEqual(process.returncode, 0)
            results = json.loads(out)
            self.assertGreater(results["responses"], 0)
            self.assertLess(results["seconds"], 50)

    def test_wrong_arguments_are_named(self):
        for arguments, message in (
                (("ftp://a/",), "scheme is not http or https"), (("http://a/", "-H", "x"), 'expected "Name: value"'),
                (("http://a/", "-H", "Content-Length: 3"), "use --data"),
                (("http://a/", "-X", "GET /"), "expected a method"),
                (("http://a/", "--rate", "0"), "requests per second"),
                ((), "URL is required")):
            done = run(BIN / "gyre", "load", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(message, done.stderr.decode())


if __name__ == "__main__":
    unittest.main()
