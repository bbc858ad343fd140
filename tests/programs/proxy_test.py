"""gyre proxy: what it passes on, which server it asks, and what it does when servers fail."""

import json
import os
import signal
import socket
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

from proxy_support import Proxy, answering, ok
from scripted import Scripted, read_head
from support import BIN, Serve, free_port, serve_in_thread
from upstream import Upstream


class Forwarding(unittest.TestCase):
    def setUp(self):
        self.upstream = Upstream(("127.0.0.1", 0), Upstream.Page)
        self.upstream.accepted = 0
        self.upstream.may_go_on = threading.Event()
        self.upstream.may_go_on.set()
        serve_in_thread(self.upstream)
        self.addCleanup(self.upstream.server_close)
        self.addCleanup(self.upstream.shutdown)
        self.port = self.upstream.server_address[1]

    def test_fields_for_the_server_are_passed_on_and_fields_of_the_connection_are_not(self):
        with Proxy(self.port) as proxy:
            status, _, body = proxy.ask("GET", "/a%20b?c=d&e", headers={
                "Accept": "x/y", "Connection": "X-Secret, keep-alive", "X-Secret": "1", "TE": "trailers",
                "X-Forwarded-For": "10.1.2.3", "Forwarded": "for=10.1.2.3", "Host": "example.org"})
            seen = json.loads(body)
            fields = {name.lower(): value for name, value in seen["headers"]}
            self.assertEqual((status, seen["method"], seen["path"]), (200, "GET", "/a%20b?c=d&e"))
            self.assertEqual(fields["accept"], "x/y")
            self.assertEqual(fields["host"], "example.org")
            self.assertEqual(fields["x-forwarded-for"], "127.0.0.1")
            self.assertEqual(fields["x-forwarded-proto"], "http")
            self.assertEqual(fields["forwarded"], 'for=127.0.0.1;proto=http;host="example.org"')
            self.assertEqual(fields["via"], "1.1 gyre")
            self.assertEqual((fields["te"], fields["connection"]), ("trailers", "TE"))
            for name in ("x-secret", "user-agent"):
                self.assertNotIn(name, fields)

    def test_a_trusted_client_may_describe_its_own_client(self):
        with Proxy(self.port, arguments=["--trust-forwarded"]) as proxy:
            seen = json.loads(proxy.ask(headers={"X-Forwarded-For": "10.1.2.3", "X-Forwarded-Proto": "https"})[2])
            fields = {name.lower(): value for name, value in seen["headers"]}
            self.assertEqual(fields["x-forwarded-for"], "10.1.2.3, 127.0.0.1")
            self.assertEqual(fields["x-forwarded-proto"], "https")

    def test_a_request_about_the_whole_server_is_answered_by_the_proxy(self):
        with Proxy(self.port) as proxy:
            self.assertEqual(proxy.ask("OPTIONS", "*")[0], 204)
            self.assertEqual(proxy.ask("OPTIONS", "/x", headers={"Max-Forwards": "0"})[0], 204)
            self.assertEqual(proxy.ask("CONNECT", "example.org:443")[0], 501)

    def test_the_path_of_the_server_comes_before_that_of_the_request(self):
        with Proxy(f"http://127.0.0.1:{self.port}/app/", arguments=["--server-host"]) as proxy:
            seen = json.loads(proxy.ask(path="/x")[2])
            self.assertEqual(seen["path"], "/app/x")
            self.assertEqual(dict(seen["headers"])["Host"], f"127.0.0.1:{self.port}")

    def test_no_request_leaves_the_path_of_the_server(self):
        with Proxy(f"http://127.0.0.1:{self.port}/app") as proxy:
            for path, expected in {"/../etc": "/app/etc", "/a/../../etc?x": "/app/etc?x", "/%2e%2E/etc": "/app/etc",
                                   "http://a/../etc": "/app/etc", "/..": "/app/", "//b/../../..": "/app/",
                                   "/../%": "/app/%"}.items():
                with self.subTest(path):
                    self.assertEqual(json.loads(proxy.ask(path=path)[2])["path"], expected)
            for path in ("/..%2fetc", "/..;/etc", "/..\\etc"):
                self.assertEqual(proxy.ask(path=path)[0], 400, path)
            self.assertNotIn("gyre proxy: ", proxy.said())

    def test_an_upgraded_connection_carries_both_directions_until_one_side_ends(self):
        def echo(peer, _):
            head = read_head(peer)
            assert "Upgrade: websocket/13, websocket\r\n" in head and "h2c" not in head and "HTTP2" not in head, head
            peer.sendall(b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"
                         b"Sec-WebSocket-Accept: abc\r\n\r\nwelcome ")
            while piece := peer.recv(1000):
                peer.sendall(piece.upper())
            peer.sendall(b" bye")

        with Scripted(echo) as server, Proxy(server.port) as proxy:
            with socket.create_connection(("127.0.0.1", proxy.port), timeout=20) as client:
                client.sendall(b"GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\n"
                               b"Upgrade: h2c, \"h2c\", websocket/13, websocket\r\nHTTP2-Settings: AAA\r\n"
                               b"Sec-WebSocket-Key: k\r\n\r\nearly ")
                answer = b""
                while not answer.endswith(b"EARLY "):
                    answer += client.recv(1000)
                head, _, data = answer.partition(b"\r\n\r\n")
                self.assertTrue(head.startswith(b"HTTP/1.1 101 "), head)
                self.assertIn(b"Sec-WebSocket-Accept: abc", head)
                self.assertEqual(data, b"welcome EARLY ")
                client.sendall(b"late")
                client.shutdown(socket.SHUT_WR)
                rest = b""
                while piece := client.recv(1000):
                    rest += piece
                self.assertEqual(rest, b"LATE bye")
            self.assertEqual(proxy.metric("gyre_proxy_running", server.port), 0)

    def test_a_server_that_declines_an_upgrade_answers_as_usual(self):
        with answering("plain") as server, Proxy(server.port) as proxy:
            status, _, body = proxy.ask(headers={"Connection": "Upgrade", "Upgrade": "websocket"})
            self.assertEqual((status, body), (200, b"plain"))

    def test_bodies_of_all_framings_pass_both_ways(self):
        with Proxy(self.port) as proxy:
            self.assertEqual(proxy.ask(path="/pieces")[2], b"piecepiece")
            self.assertEqual(proxy.ask(path="/until_end")[2], b"z" * 100_000)
            self.assertEqual(proxy.ask(path="/empty")[0], 204)
            status, headers, body = proxy.ask("HEAD", "/")
            self.assertEqual((status, body), (200, b""))
            self.assertGreater(int(headers["Content-Length"]), 0)
        with tempfile.TemporaryDirectory() as folder:
            data = os.urandom(3_000_000)
            (Path(folder) / "big").write_bytes(data)
            with Serve(folder, "--upload", folder) as server, Proxy(server.port) as proxy:
                self.assertEqual(proxy.ask(path="/big")[2], data)
                self.assertEqual(proxy.ask("PUT", "/_upload/copy", data)[0], 201)
                self.assertEqual((Path(folder) / "copy").read_bytes(), data)
                status, _, _ = proxy.ask("PUT", "/_upload/copy2", iter([data, data]))  # chunked
                self.assertEqual((status, (Path(folder) / "copy2").read_bytes()), (201, data + data))

    def test_https_on_both_sides(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "a.txt").write_text("hello\n")
            with Serve(folder, "--tls", "auto") as server:
                target = f"https://127.0.0.1:{server.port}"
                with Proxy(target, arguments=["--tls", "auto"]) as proxy:
                    done = subprocess.run([BIN / "gyre", "fetch", "-k", f"https://127.0.0.1:{proxy.port}/a.txt"],
                                          capture_output=True, timeout=20)
                    self.assertEqual(done.returncode, 22)  # the certificate of the server is not trusted
                    self.assertIn("certificate", proxy.said())
                with Proxy(target, arguments=["--tls", "auto", "--insecure"]) as proxy:
                    done = subprocess.run([BIN / "gyre", "fetch", "-k", f"https://127.0.0.1:{proxy.port}/a.txt"],
                                          capture_output=True, timeout=20)
                    self.assertEqual((done.returncode, done.stdout), (0, b"hello\n"))


class Balancing(unittest.TestCase):
    def test_servers_take_turns(self):
        with answering("a") as a, answering("b") as b, Proxy(a.port, b.port) as proxy:
            self.assertEqual(sorted(proxy.ask()[2] for _ in range(10)), [b"a"] * 5 + [b"b"] * 5)
            self.assertEqual(proxy.metric("gyre_proxy_requests_total", a.port), 5)

    def test_the_server_with_the_fewest_requests_is_asked(self):
        waits = threading.Event()
        self.addCleanup(waits.set)

        def slow(peer, _):
            read_head(peer)
            waits.wait(20)
            peer.sendall(ok("slow"))

        for policy in ("least", "two-choices"):
            waits.clear()
            with Scripted(slow) as busy, answering("quick") as quick, Proxy(busy.port, quick.port,
                                                                           arguments=["--balance", policy]) as proxy:
                stuck = []
                while proxy.metric("gyre_proxy_running", busy.port) == 0:
                    stuck.append(threading.Thread(target=proxy.ask))
                    stuck[-1].start()
                    stuck[-1].join(0.2)
                answers = [proxy.ask()[2] for _ in range(10)] if policy == "least" else [b"quick"]
                self.assertEqual(set(answers), {b"quick"})
                waits.set()
                for each in stuck:
                    each.join(20)

    def test_a_server_that_refuses_connections_is_replaced_by_another_and_then_left_out(self):
        dead = free_port()
        with answering("b") as b, Proxy(dead, b.port, arguments=["--max-fails", "2"]) as proxy:
            for method in ("GET", "POST"):  # nothing was sent, so even a POST may go elsewhere
                for _ in range(10):
                    self.assertEqual(proxy.ask(method)[::2], (200, b"b"))
            self.assertEqual(proxy.metric("gyre_proxy_failures_total", dead), 2)
            self.assertEqual(proxy.metric("gyre_proxy_up", dead), 0)
            self.assertEqual(proxy.metric("gyre_proxy_up", b.port), 1)

    def test_requests_that_may_be_repeated_are_sent_to_another_server_and_others_are_not(self):
        def breaks(peer, _):
            read_head(peer)  # and closes

        with Scripted(breaks) as bad, answering("b") as b, Proxy(bad.port, b.port,
                                                                arguments=["--max-fails", "1000"]) as proxy:
            self.assertEqual({proxy.ask("GET")[2] for _ in range(6)}, {b"b"})
            self.assertEqual(sorted(proxy.ask("POST")[0] for _ in range(6)), [200] * 3 + [502] * 3)

    def test_an_answer_that_says_not_now_leads_to_another_server(self):
        with answering("no", "503 Service Unavailable") as busy, answering("b") as b:
            with Proxy(busy.port, b.port, arguments=["--max-fails", "1000"]) as proxy:
                self.assertEqual({proxy.ask()[2] for _ in range(6)}, {b"b"})
            with Proxy(busy.port) as proxy:  # the last one's answer is passed on
                self.assertEqual(proxy.ask()[::2], (503, b"no"))

    def test_without_any_server_the_answer_is_502_and_a_slow_one_504(self):
        with Proxy(free_port(), free_port()) as proxy:
            self.assertEqual(proxy.ask()[0], 502)
        gone = threading.Event()
        self.addCleanup(gone.set)
        with Scripted(lambda peer, _: gone.wait(20)) as silent, Proxy(silent.port,
                                                                     arguments=["--timeout", "0.3"]) as proxy:
            self.assertEqual(proxy.ask()[0], 504)

    def test_a_server_that_fails_its_health_check_gets_no_requests_until_it_is_healthy(self):
        healthy = threading.Event()

        def serve(peer, _):
            while head := read_head(peer):
                if head.startswith("GET /health"):
                    peer.sendall(ok("", "200 OK" if healthy.is_set() else "500 Internal Server Error"))
                else:
                    peer.sendall(ok("a"))

        with Scripted(serve) as a, answering("b") as b:
            with Proxy(a.port, b.port, arguments=["--health", "/health", "--health-interval", "0.05"]) as proxy:
                while proxy.ask()[2] == b"a" or proxy.metric("gyre_proxy_up", a.port) == 1:
                    pass
                self.assertEqual({proxy.ask()[2] for _ in range(6)}, {b"b"})
                healthy.set()
                while proxy.ask()[2] == b"b":
                    pass

    def test_a_health_check_is_seen_without_requests(self):
        healthy = threading.Event()

        def serve(peer, _):
            while read_head(peer):
                peer.sendall(ok("", "200 OK" if healthy.is_set() else "500 Internal Server Error"))

        with Scripted(serve) as server:
            with Proxy(server.port, arguments=["--health", "/health", "--health-interval", "0.05"]) as proxy:
                while proxy.metric("gyre_proxy_up", server.port) == 1:
                    pass
                healthy.set()
                while proxy.metric("gyre_proxy_up", server.port) == 0:
                    pass
                self.assertIn("fails its health check", proxy.said())
                self.assertIn("is healthy again", proxy.said())

    def test_several_threads_share_the_counts(self):
        with answering("a") as a, Proxy(a.port, arguments=["--threads", "2"]) as proxy:
            for _ in range(20):
                self.assertEqual(proxy.ask()[2], b"a")
            self.assertEqual(proxy.metric("gyre_proxy_requests_total", a.port), 20)
            self.assertEqual(proxy.metric("gyre_proxy_up", a.port), 2)


class Stopping(unittest.TestCase):
    def test_a_request_that_runs_is_answered_before_the_end(self):
        begun, go_on = threading.Event(), threading.Event()

        def serve(peer, _):
            read_head(peer)
            begun.set()
            go_on.wait(20)
            peer.sendall(ok("late"))

        with Scripted(serve) as server, Proxy(server.port) as proxy:
            answers = []
            asking = threading.Thread(target=lambda: answers.append(proxy.ask()[::2]))
            asking.start()
            self.assertTrue(begun.wait(20))
            proxy.process.send_signal(signal.SIGTERM)
            while proxy.ask(path="/readyz", port=proxy.admin)[0] != 503:
                pass
            go_on.set()
            asking.join(20)
            self.assertEqual(answers, [(200, b"late")])
            self.assertEqual(proxy.process.wait(20), 0)


if __name__ == "__main__":
    unittest.main()
