"""gyre proxy: which server it asks, and what it does when servers are slow, wrong, hostile or gone, and how it
ends."""

import http.client
import signal
import threading
import time
import unittest

from raw_http import read_all, read_until
from scripted import Scripted, Upstream, answering, ok, read_head, saying
from support import Proxy, ask, free_port

MANY = ("--max-fails", "1000")


class Balancing(unittest.TestCase):
    def test_servers_take_turns(self):
        with answering("a") as a, answering("b") as b, Proxy(a.port, b.port) as proxy:
            self.assertEqual(sorted(proxy.get()[1] for _ in range(10)), [b"a"] * 5 + [b"b"] * 5)
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
                    stuck.append(threading.Thread(target=proxy.get))
                    stuck[-1].start()
                    stuck[-1].join(0.2)
                answers = [proxy.get()[1] for _ in range(10)] if policy == "least" else [b"quick"]
                self.assertEqual(set(answers), {b"quick"})
                waits.set()
                for each in stuck:
                    each.join(20)

    def test_a_server_that_refuses_connections_is_replaced_by_another_and_then_left_out(self):
        dead = free_port()
        with answering("b") as b, Proxy(dead, b.port, arguments=["--max-fails", "2"]) as proxy:
            for method in ("GET", "POST"):  # nothing was sent, so even a POST may go elsewhere
                for _ in range(10):
                    self.assertEqual(proxy.request(method)[::2], (200, b"b"))
            self.assertEqual(proxy.failures(dead), 2)
            self.assertEqual([proxy.metric("gyre_proxy_up", each) for each in (dead, b.port)], [0, 1])

    def test_requests_that_may_be_repeated_are_sent_to_another_server_and_others_are_not(self):
        with saying(b"") as bad, answering("b") as b, Proxy(bad.port, b.port, arguments=MANY) as proxy:
            self.assertEqual({proxy.get()[1] for _ in range(6)}, {b"b"})
            self.assertEqual(sorted(proxy.request("POST")[0] for _ in range(6)), [200] * 3 + [502] * 3)

    def test_an_answer_that_says_not_now_leads_to_another_server(self):
        with answering("no", "503 Service Unavailable") as busy, answering("b") as b:
            with Proxy(busy.port, b.port, arguments=MANY) as proxy:
                self.assertEqual({proxy.get()[1] for _ in range(6)}, {b"b"})
            with Proxy(busy.port) as proxy:  # the last one's answer is passed on
                self.assertEqual(proxy.get(), (503, b"no"))

    def test_no_server_that_answers_is_502_and_a_slow_one_504(self):
        with Proxy(free_port(), free_port()) as proxy:
            self.assertEqual(proxy.get()[0], 502)
        gone = threading.Event()
        self.addCleanup(gone.set)
        with Scripted(lambda *_: gone.wait(20)) as silent, Proxy(silent.port, arguments=["--timeout", "0.3"]) as proxy:
            self.assertEqual(proxy.get()[0], 504)

    def test_a_server_that_fails_its_health_check_gets_no_requests_until_it_is_healthy(self):
        healthy = threading.Event()

        def serve(peer, _):
            while head := read_head(peer):
                if head.startswith("GET /health"):
                    peer.sendall(ok("", "200 OK" if healthy.is_set() else "500 Internal Server Error"))
                else:
                    peer.sendall(ok("a"))

        with Scripted(serve) as a, answering("b") as b, Proxy(a.port, b.port, arguments=[
                "--health", "/health", "--health-interval", "0.05"]) as proxy:
            while proxy.metric("gyre_proxy_up", a.port) == 1:
                pass
            self.assertEqual({proxy.get()[1] for _ in range(6)}, {b"b"})
            healthy.set()
            while proxy.metric("gyre_proxy_up", a.port) == 0:
                pass
            while proxy.get()[1] == b"b":
                pass
            self.assertIn("fails its health check", proxy.said())
            self.assertIn("is healthy again", proxy.said())

    def test_several_threads_share_the_counts(self):
        with answering("a") as a, Proxy(a.port, arguments=["--threads", "2"]) as proxy:
            for _ in range(20):
                self.assertEqual(proxy.get()[1], b"a")
            self.assertEqual(proxy.metric("gyre_proxy_requests_total", a.port), 20)
            self.assertEqual(proxy.metric("gyre_proxy_up", a.port), 2)


class Hostile(unittest.TestCase):
    def test_a_server_that_dies_or_talks_nonsense_is_502(self):
        for last_words in (b"", b"HTTP/1.1 200 OK\r\nConte", b"nonsense\r\n\r\n",
                           b"HTTP/1.1 101 Switch\r\nUpgrade: x\r\n\r\n",
                           b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"):
            with self.subTest(last_words), saying(last_words) as server, Proxy(server.port) as proxy:
                self.assertEqual(proxy.get()[0], 502)
                self.assertEqual(proxy.request("POST", body=b"x" * 3_000_000)[0], 502)

    def test_a_server_that_dies_in_the_middle_cuts_the_response_off(self):
        for head in (b"Content-Length: 100", b"Transfer-Encoding: chunked"):
            answer = b"HTTP/1.1 200 OK\r\n" + head + b"\r\n\r\n4\r\nabcd\r\n"
            with saying(answer) as server, Proxy(server.port) as proxy:
                with self.assertRaises((http.client.IncompleteRead, ConnectionResetError)):
                    proxy.get()

    def test_a_server_that_closes_idle_connections_costs_no_errors(self):
        with saying(ok("ok")) as server, Proxy(server.port) as proxy:
            self.assertEqual([proxy.get() for _ in range(5)], [(200, b"ok")] * 5)

    def test_bytes_that_nobody_asked_for_are_nobodys_response(self):
        for unasked in (b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret",
                        b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", b"x"):
            answered, sent = threading.Event(), threading.Event()

            def serve(peer, number):
                read_head(peer)
                peer.sendall(ok(f"own {number}"))
                if number == 0:
                    answered.wait(20)
                    peer.sendall(unasked)
                    sent.set()
                    peer.recv(1)

            with self.subTest(unasked), Scripted(serve) as server, Proxy(server.port) as proxy:
                self.assertEqual(proxy.get(), (200, b"own 0"))
                answered.set()
                self.assertTrue(sent.wait(20))
                self.assertEqual(proxy.get(), (200, b"own 1"))

    def test_a_client_that_leaves_ends_the_request_to_the_server(self):
        ended = threading.Event()

        def wait_for_the_end(peer, _):
            read_head(peer)
            if peer.recv(1) == b"":
                ended.set()

        with Scripted(wait_for_the_end) as server, Proxy(server.port) as proxy:
            with proxy.socket() as peer:
                peer.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                time.sleep(0.1)
            self.assertTrue(ended.wait(10))

    def test_a_download_that_began_before_a_pause_does_not_end_it(self):
        finish = threading.Event()
        self.addCleanup(finish.set)

        def serve(peer, number):
            read_head(peer)
            if number == 0:
                peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nlong")
                finish.wait(20)
                peer.sendall(b"last")

        with Scripted(serve) as a, answering("b") as b:
            with Proxy(a.port, b.port, arguments=["--max-fails", "1", "--fail-timeout", "100"]) as proxy:
                download = proxy.connect()
                download.request("GET", "/")
                answer = download.getresponse()
                self.assertEqual(answer.read(4), b"long")
                while proxy.failures(a.port) == 0:
                    self.assertEqual(proxy.get(), (200, b"b"))
                finish.set()
                self.assertEqual(answer.read(), b"last")
                download.close()
                proxy.wait_until_idle(a.port)
                self.assertEqual({proxy.get() for _ in range(4)}, {(200, b"b")})
                self.assertEqual(proxy.metric("gyre_proxy_up", a.port), 0)
                self.assertEqual(proxy.failures(a.port), 1)


class Stopping(unittest.TestCase):
    def test_a_request_that_runs_is_answered_before_the_end(self):
        begun, go_on, answers = threading.Event(), threading.Event(), []

        def serve(peer, _):
            read_head(peer)
            begun.set()
            go_on.wait(20)
            peer.sendall(ok("late"))

        with Scripted(serve) as server, Proxy(server.port) as proxy:
            asking = threading.Thread(target=lambda: answers.append(proxy.get()))
            asking.start()
            self.assertTrue(begun.wait(20))
            proxy.process.send_signal(signal.SIGTERM)
            while ask(proxy.admin, "/readyz")[0] != 503:
                pass
            go_on.set()
            asking.join(20)
            self.assertEqual((answers, proxy.process.wait(20)), ([(200, b"late")], 0))

    def test_a_response_that_has_begun_is_passed_on_whole_before_the_end(self):
        with Upstream() as upstream, Proxy(upstream.port) as proxy, proxy.socket() as peer:
            self.assertEqual(proxy.get()[0], 200)  # leaves an idle connection to the server
            peer.sendall(b"GET /pieces HTTP/1.1\r\nHost: a\r\n\r\n")
            received = read_until(peer, b"piece")
            proxy.process.send_signal(signal.SIGTERM)
            upstream.may_go_on.set()
            received += read_all(peer)
            self.assertEqual(received.count(b"piece"), 2)
            self.assertTrue(received.endswith(b"0\r\nX-Trailer: 1\r\n\r\n"), received)
            self.assertEqual(proxy.process.wait(20), 0)


if __name__ == "__main__":
    unittest.main()
