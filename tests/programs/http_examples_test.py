"""The examples that speak HTTP do what they say, with independent clients."""

import concurrent.futures
import http.client
import http.server
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
import unittest
from pathlib import Path

BIN = Path(os.environ["GYRE_BIN_DIR"])


class Program:
    """An example that listens on a free port, and is always ended."""

    def __init__(self, name, *arguments):
        self.command = [str(BIN / name), "--listen", "127.0.0.1:0", *arguments]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        line = self.process.stdout.readline()
        found = re.fullmatch(r"listening on http://127\.0\.0\.1:(\d+)\n", line)
        if not found:
            self.process.kill()
            raise AssertionError(f"unexpected first line: {line!r}")
        self.port = int(found.group(1))
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)

    def socket(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def request(self, method, target, body=None, headers={}, **options):
        """Returns (status, headers, body)."""
        connection = self.connect()
        try:
            connection.request(method, target, body, headers, **options)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def get(self, target, headers={}):
        status, _, body = self.request("GET", target, headers=headers)
        return status, body

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(20)


def all_at_once(count, function):
    """Calls the function with 0, 1, … on as many threads. Returns the results and the seconds elapsed."""
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        results = list(pool.map(function, range(count)))
    return results, time.monotonic() - began


def read_to_end(peer):
    data = b""
    while part := peer.recv(65536):
        data += part
    return data


class RepeatAndSleep:
    def setUp(self):
        self.server = Program(self.program).__enter__()
        self.addCleanup(self.server.__exit__)

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
            answers = read_to_end(peer)
            self.assertEqual(re.findall(rb"HTTP/1\.1 (\d+)", answers), [b"200", b"404", b"200"])
            self.assertTrue(answers.endswith(b"\r\n\r\nxxxx"), answers)
        with self.server.socket() as peer:
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in b"GET /repeat?count=3 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n":
                peer.sendall(bytes([byte]))
            self.assertTrue(read_to_end(peer).endswith(b"\r\n\r\nxxx"))

    def test_answers_many_connections(self):
        answers, _ = all_at_once(50, lambda i: self.server.get(f"/repeat?count={i}", {"Connection": "close"}))
        self.assertEqual(answers, [(200, b"x" * i) for i in range(50)])

    def test_a_signal_ends_it_behind_the_request_under_way(self):
        connection = self.server.connect()
        connection.request("GET", "/repeat?count=1")  # so that the connection has been accepted
        connection.getresponse().read()
        connection.request("GET", "/sleep?ms=400")
        self.server.process.send_signal(signal.SIGTERM)
        answer = connection.getresponse()
        self.assertEqual((answer.status, answer.read().strip()), (200, b"slept 400 ms"))
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


class Blocking(RepeatAndSleep, unittest.TestCase):
    program = "repeat_sleep_blocking"

    def test_sleeps_one_after_the_other(self):
        self.assertGreaterEqual(self.sleep_at_once(5, 100), 0.5)


class Threads(RepeatAndSleep, unittest.TestCase):
    program = "repeat_sleep_threads"

    def test_sleeps_at_the_same_time(self):
        self.assertLess(self.sleep_at_once(50, 500), 10)  # one after another: 25 s


class Coroutines(RepeatAndSleep, unittest.TestCase):
    program = "repeat_sleep_server"

    def test_sleeps_at_the_same_time(self):
        self.assertLess(self.sleep_at_once(50, 500), 10)

    def test_hundreds_of_connections_sleep_at_the_same_time(self):
        peers = [self.server.socket() for _ in range(400)]
        for peer in peers:
            peer.sendall(b"GET /sleep?ms=500 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        began = time.monotonic()
        for peer in peers:
            self.assertTrue(read_to_end(peer).startswith(b"HTTP/1.1 200 "))
            peer.close()
        self.assertLess(time.monotonic() - began, 20)  # one after another: 200 s


JSON = {"Content-Type": "application/json"}


class RestStore(unittest.TestCase):
    def setUp(self):
        self.server = Program("rest_store").__enter__()
        self.addCleanup(self.server.__exit__)

    def add(self, text="{}"):
        status, headers, body = self.server.request("POST", "/items", text, JSON)
        self.assertEqual((status, body), (201, text if isinstance(text, bytes) else text.encode()))
        return headers["Location"], headers["ETag"]

    def test_an_item_is_added_read_changed_and_removed(self):
        self.assertEqual(self.server.get("/items"), (200, b"[]"))
        where, tag = self.add('{"name": "Tee ☕"}'.encode())
        self.assertEqual(json.loads(self.server.get("/items")[1]), [where])
        status, headers, body = self.server.request("GET", where)
        self.assertEqual((status, headers["Content-Type"], headers["ETag"]), (200, "application/json", tag))
        self.assertEqual(json.loads(body), {"name": "Tee ☕"})
        status, headers, _ = self.server.request("PUT", where, "[1]", JSON)
        self.assertEqual(status, 200)
        self.assertNotEqual(headers["ETag"], tag)
        self.assertEqual(self.server.get(where), (200, b"[1]"))
        self.assertEqual(self.server.request("DELETE", where)[0], 204)
        for method in ("GET", "DELETE"):
            self.assertEqual(self.server.request(method, where)[0], 404)
        self.assertEqual(self.server.request("PUT", where, "1", JSON)[0], 404)
        self.assertNotEqual(self.add()[0], where)

    def test_conditional_requests(self):
        where, old = self.add()
        new = self.server.request("PUT", where, "1", {**JSON, "If-Match": old})[1]["ETag"]
        self.assertEqual(self.server.request("PUT", where, "2", {**JSON, "If-Match": old})[0], 412)
        self.assertEqual(self.server.request("DELETE", where, headers={"If-Match": old})[0], 412)
        self.assertEqual(self.server.get(where), (200, b"1"))
        status, headers, body = self.server.request("GET", where, headers={"If-None-Match": f'"x", {new}'})
        self.assertEqual((status, headers["ETag"], body), (304, new, b""))
        self.assertEqual(self.server.request("GET", where, headers={"If-None-Match": old})[0], 200)
        self.assertEqual(self.server.request("PUT", where, "3", {**JSON, "If-Match": "*"})[0], 200)

    def test_only_one_of_many_that_change_the_same_state_succeeds(self):
        where, tag = self.add()
        statuses, _ = all_at_once(20, lambda i: self.server.request("PUT", where, str(i), {**JSON, "If-Match": tag})[0])
        self.assertEqual(sorted(statuses), [200] + [412] * 19)

    def test_refuses_what_it_cannot_keep(self):
        for status, headers, body in ((415, {}, "1"), (415, {"Content-Type": "text/plain"}, "1"), (400, JSON, ""),
                                      (400, JSON, b"\xff"), (400, JSON, b"\xc0\xaf"), (400, JSON, b"\xed\xa0\x80"),
                                      (400, JSON, b"\xe2\x82"), (400, JSON, b"\xf4\x90\x80\x80"),
                                      (413, JSON, b"1" * 70_000)):
            with self.subTest(status=status, body=body[:10]):
                self.assertEqual(self.server.request("POST", "/items", body, headers)[0], status)
        self.assertEqual(self.server.get("/items"), (200, b"[]"))

    def test_refuses_other_methods_and_paths(self):
        where, _ = self.add()
        for target, allowed in (("/items", {"GET", "HEAD", "OPTIONS", "POST"}),
                                (where, {"GET", "HEAD", "OPTIONS", "PUT", "DELETE"})):
            status, headers, _ = self.server.request("PATCH", target)
            self.assertEqual((status, set(re.split(", *", headers["Allow"]))), (405, allowed))
        for target in ("/", "/items/", "/items/x", "/items/-1", "/items/1/2"):
            self.assertEqual(self.server.get(target)[0], 404, target)

    def test_takes_bodies_in_chunks_and_keeps_the_connection(self):
        connection = self.server.connect()
        for i in range(20):
            connection.request("POST", "/items", iter([b"[", str(i).encode(), b"]"]), JSON, encode_chunked=True)
            answer = connection.getresponse()
            self.assertEqual((answer.status, answer.read()), (201, f"[{i}]".encode()))
            connection.request("HEAD", answer.headers["Location"])
            answer = connection.getresponse()
            self.assertEqual((answer.headers["Content-Length"], answer.read()), (str(len(f"[{i}]")), b""))
        connection.close()

    def test_many_add_at_the_same_time(self):
        added, _ = all_at_once(50, lambda i: self.add(str(i))[0])
        self.assertEqual(len(set(added)), 50)
        self.assertEqual(sorted(json.loads(self.server.get("/items")[1])), sorted(added))
        self.assertEqual(self.server.stop(), 0)


class Clock(unittest.TestCase):
    def setUp(self):
        self.server = Program("sse_clock").__enter__()
        self.addCleanup(self.server.__exit__)

    def listen(self):
        connection = self.server.connect()
        connection.request("GET", "/events")
        answer = connection.getresponse()
        self.addCleanup(connection.close)
        self.addCleanup(answer.close)
        self.assertEqual((answer.status, answer.headers["Content-Type"]), (200, "text/event-stream"))
        return answer

    def test_shows_a_page(self):
        status, headers, body = self.server.request("GET", "/")
        self.assertEqual((status, headers.get_content_type()), (200, "text/html"))
        self.assertIn(b'EventSource("/events")', body)

    def test_tells_the_time_each_second(self):
        answer, times = self.listen(), []
        for _ in range(3):
            self.assertRegex(answer.readline(), rb"^data: \w+, \d\d \w+ \d+ \d\d:\d\d:\d\d GMT\n$")
            times.append(time.monotonic())
            self.assertEqual(answer.readline(), b"\n")
        self.assertGreater(times[2] - times[0], 1.5)

    def test_tells_many_and_ends_at_a_signal(self):
        answers = [self.listen() for _ in range(50)]
        for answer in answers:
            self.assertTrue(answer.readline().startswith(b"data: "))
        began = time.monotonic()
        self.assertEqual(self.server.stop(), 0)
        self.assertLess(time.monotonic() - began, 8)

    def test_goes_on_when_a_client_leaves(self):
        for _ in range(10):
            with self.server.socket() as peer:
                peer.sendall(b"GET /events HTTP/1.0\r\n\r\n")
                self.assertIn(b"200 OK", peer.recv(1000))
        self.assertEqual(self.server.get("/")[0], 200)


class Upstream(http.server.ThreadingHTTPServer):
    """The server behind the proxy."""
    daemon_threads = True
    request_queue_size = 128

    class Page(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self):
            super().setup()
            self.server.accepted += 1

        def log_message(self, *_):
            pass

        def body(self):
            if "chunked" not in self.headers.get("Transfer-Encoding", ""):
                return self.rfile.read(int(self.headers.get("Content-Length", 0)))
            data = b""
            while size := int(self.rfile.readline(), 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return data

        def answer(self, body, *fields, status=200):
            self.send_response(status)
            for name, value in fields:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def do_GET(self):
            if self.path.startswith("/sleep"):
                time.sleep(0.3)
                self.answer(b"slept")
            elif self.path == "/pieces":
                self.send_response(200)
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for _ in range(2):
                    self.wfile.write(b"5\r\npiece\r\n")
                    self.server.may_go_on.wait(20)
                self.wfile.write(b"0\r\nX-Trailer: 1\r\n\r\n")
            elif self.path == "/until_end":
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"z" * 100_000)
                self.close_connection = True
            elif self.path == "/empty":
                self.send_response(204)
                self.end_headers()
            else:
                seen = {"method": self.command, "path": self.path, "headers": list(self.headers.items())}
                self.answer(json.dumps(seen).encode(), ("Content-Type", "application/json"), ("X-Mine", "a"),
                            ("X-Mine", "b"), ("Connection", "X-Hop"), ("X-Hop", "1"), ("Keep-Alive", "timeout=5"))

        do_HEAD = do_DELETE = do_OPTIONS = do_TRACE = do_GET

        def do_POST(self):
            if self.path == "/refuse":
                self.close_connection = True
                return self.answer(b"too much", status=413)
            self.answer(self.body(), ("X-Framing", "chunked" if "Transfer-Encoding" in self.headers else "sized"))


class Proxy(unittest.TestCase):
    def setUp(self):
        self.upstream = Upstream(("127.0.0.1", 0), Upstream.Page)
        self.upstream.accepted = 0
        self.upstream.may_go_on = threading.Event()
        threading.Thread(target=self.upstream.serve_forever, daemon=True).start()
        self.addCleanup(self.upstream.server_close)
        self.addCleanup(self.upstream.shutdown)
        self.addCleanup(self.upstream.may_go_on.set)
        self.proxy = self.start(f"127.0.0.1:{self.upstream.server_address[1]}")

    def start(self, upstream, *arguments):
        proxy = Program("reverse_proxy", "--upstream", upstream, *arguments).__enter__()
        self.addCleanup(proxy.__exit__)
        return proxy

    def start_before(self, serve, *arguments):
        """A proxy for a server that calls `serve` with each connection, after the head of a request."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def accept():
            while True:
                try:
                    peer = listener.accept()[0]
                except OSError:
                    return
                with peer:
                    peer.settimeout(20)
                    received = b""
                    while b"\r\n\r\n" not in received and (part := peer.recv(65536)):
                        received += part
                    if received:
                        serve(peer)

        threading.Thread(target=accept, daemon=True).start()
        return self.start(f"127.0.0.1:{listener.getsockname()[1]}", *arguments)

    def test_passes_on_what_is_meant_for_the_end_and_nothing_else(self):
        status, headers, body = self.proxy.request("GET", "/a%20b?c=d&e", headers={
            "Accept": "x/y", "Connection": "X-Secret, keep-alive", "X-Secret": "1", "TE": "trailers", "Upgrade": "h2c",
            "Proxy-Connection": "keep-alive", "Keep-Alive": "5", "X-Forwarded-For": "10.1.2.3", "Host": "example.org"})
        seen = json.loads(body)
        self.assertEqual((status, seen["method"], seen["path"]), (200, "GET", "/a%20b?c=d&e"))
        fields = {name.lower(): value for name, value in seen["headers"]}
        self.assertEqual(fields, {"accept": "x/y", "accept-encoding": "identity", "host": "example.org",
                                  "x-forwarded-for": "127.0.0.1", "via": "1.1 gyre"})
        self.assertEqual((headers.get_all("X-Mine"), headers["Via"], headers["Content-Type"]),
                         (["a", "b"], "1.1 gyre", "application/json"))
        for name in ("X-Hop", "Keep-Alive"):
            self.assertIsNone(headers[name])

    def test_ends_with_success_with_an_idle_connection_to_the_server_behind_it(self):
        self.assertEqual(self.proxy.get("/")[0], 200)
        self.assertEqual(self.proxy.stop(), 0)

    def test_ends_with_success_behind_a_request_that_is_under_way(self):
        self.assertEqual(self.proxy.get("/")[0], 200)
        with self.proxy.socket() as peer:
            peer.sendall(b"GET /pieces HTTP/1.1\r\nHost: a\r\n\r\n")
            received = b""
            while b"piece" not in received:
                received += peer.recv(65536)
            self.proxy.process.send_signal(signal.SIGTERM)
            self.upstream.may_go_on.set()
            received += read_to_end(peer)
            self.assertEqual(received.count(b"piece"), 2)
            self.assertTrue(received.endswith(b"0\r\n\r\n"), received)
        self.assertEqual(self.proxy.process.wait(20), 0)

    ABOUT_THE_CLIENT = {"X-Forwarded-For": "10.1.2.3", "X_Forwarded_For": "10.1.2.4", "Forwarded": "for=10.1.2.5",
                        "X-Forwarded-Host": "bank", "x-forwarded-proto": "https", "X-Real-IP": "10.1.2.6"}

    def fields_seen_behind(self, proxy):
        seen = json.loads(proxy.request("GET", "/", headers=self.ABOUT_THE_CLIENT)[2])["headers"]
        wanted = {name.lower().replace("_", "-") for name in self.ABOUT_THE_CLIENT}
        return sorted((name, value) for name, value in seen if name.lower().replace("_", "-") in wanted)

    def test_a_client_cannot_lie_about_its_address(self):
        self.assertEqual(self.fields_seen_behind(self.proxy), [("X-Forwarded-For", "127.0.0.1")])

    def test_a_proxy_before_it_is_believed_when_it_is_told_to(self):
        proxy = self.start(f"127.0.0.1:{self.upstream.server_address[1]}", "--trust-forwarded", "yes")
        self.assertEqual(self.fields_seen_behind(proxy), sorted(
            {**self.ABOUT_THE_CLIENT, "X-Forwarded-For": "10.1.2.3, 127.0.0.1"}.items()))

    def test_options_and_trace_are_passed_on_by_no_more_than_they_say(self):
        for method, target, status in (("OPTIONS", "*", 204), ("OPTIONS", "/x", 204), ("TRACE", "/x", 501)):
            answer = self.proxy.request(method, target, headers={"Max-Forwards": "0"})
            self.assertEqual((answer[0], self.upstream.accepted), (status, 0), method)
        for method, given, left in (("OPTIONS", "2", "1"), ("TRACE", "1", "0"), ("OPTIONS", "many", "many"), ("GET", "0", "0")):
            seen = json.loads(self.proxy.request(method, "/x", headers={"Max-Forwards": given})[2])
            self.assertEqual([value for name, value in seen["headers"] if name == "Max-Forwards"], [left], method)

    def test_passes_on_large_bodies_both_ways(self):
        body = os.urandom(20_000_000)
        status, headers, echo = self.proxy.request("POST", "/", body)
        self.assertEqual((status, headers["X-Framing"], echo == body), (200, "sized", True))
        pieces = (body[i:i + 77_777] for i in range(0, len(body), 77_777))
        status, headers, echo = self.proxy.request("POST", "/", pieces, encode_chunked=True)
        self.assertEqual((status, headers["X-Framing"], echo == body), (200, "chunked", True))
        self.assertEqual(self.proxy.request("POST", "/", b"")[2], b"")
        self.assertEqual(self.proxy.request("POST", "/", iter([]), encode_chunked=True)[2], b"")

    def test_passes_on_a_response_while_it_comes(self):
        connection = self.proxy.connect()
        connection.request("GET", "/pieces")
        answer = connection.getresponse()
        self.assertEqual(answer.read(5), b"piece")  # the next piece has not been sent yet
        self.upstream.may_go_on.set()
        self.assertEqual(answer.read(), b"piece")
        connection.close()

    def test_passes_on_every_kind_of_body(self):
        self.assertEqual(self.proxy.get("/until_end"), (200, b"z" * 100_000))
        self.assertEqual(self.proxy.get("/empty"), (204, b""))
        length = self.proxy.request("GET", "/x")[1]["Content-Length"]
        status, headers, body = self.proxy.request("HEAD", "/x")
        self.assertEqual((status, body, abs(int(headers["Content-Length"]) - int(length)) < 10), (200, b"", True))

    def test_uses_its_connections_again(self):
        connection = self.proxy.connect()
        for _ in range(20):
            connection.request("GET", "/")
            self.assertEqual(connection.getresponse().read()[:1], b"{")
        connection.close()
        self.assertEqual(self.upstream.accepted, 1)

    def test_many_at_once(self):
        answers, seconds = all_at_once(40, lambda _: self.proxy.get("/sleep"))
        self.assertEqual(answers, [(200, b"slept")] * 40)
        self.assertLess(seconds, 8)  # one after another: 12 s

    def test_an_early_refusal_ends_the_upload(self):
        with self.proxy.socket() as peer:
            peer.sendall(b"POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n" + b"x" * 1000)
            answer = http.client.HTTPResponse(peer, method="POST")
            answer.begin()
            self.assertEqual((answer.status, answer.read(), answer.headers["Connection"]), (413, b"too much", "close"))

    def test_a_server_that_is_not_there(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.assertEqual(self.start(f"127.0.0.1:{port}").get("/")[0], 502)

    def test_a_server_that_dies_or_talks_nonsense(self):
        for last_words in (b"", b"HTTP/1.1 200 OK\r\nConte", b"nonsense\r\n\r\n", b"HTTP/1.1 101 Switch\r\nUpgrade: x\r\n\r\n",
                           b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"):
            with self.subTest(last_words):
                proxy = self.start_before(lambda peer: peer.sendall(last_words))
                self.assertEqual(proxy.get("/")[0], 502)
                self.assertEqual(proxy.request("POST", "/", b"x" * 3_000_000)[0], 502)

    def test_a_server_that_dies_in_the_middle(self):
        for head in (b"Content-Length: 100", b"Transfer-Encoding: chunked"):
            proxy = self.start_before(lambda peer: peer.sendall(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n\r\n4\r\nabcd\r\n"))
            with self.assertRaises((http.client.IncompleteRead, ConnectionResetError)):
                proxy.get("/")

    def test_interim_answers_are_passed_over(self):
        proxy = self.start_before(lambda peer: peer.sendall(
            b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
        self.assertEqual(proxy.get("/"), (200, b"ok"))

    def test_a_server_that_closes_idle_connections(self):
        proxy = self.start_before(lambda peer: peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
        for _ in range(5):
            self.assertEqual(proxy.get("/"), (200, b"ok"))

    def unasked_for(self, unasked, waits_for_the_end):
        """Sends two requests. After the first response the server sends unsolicited data. Returns the second
        response."""
        sent, ended, connections = threading.Event(), threading.Event(), []

        def serve(peer):
            connections.append(peer)
            if len(connections) > 1:
                return peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nown")
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst")
            answered.wait(20)
            peer.sendall(unasked)
            sent.set()
            try:
                if peer.recv(1) == b"":
                    ended.set()
            except ConnectionResetError:
                ended.set()

        answered = threading.Event()
        proxy = self.start_before(serve)
        first = proxy.get("/")
        answered.set()
        self.assertEqual(first, (200, b"first"))
        self.assertTrue((ended if waits_for_the_end else sent).wait(20), "the idle connection is still there")
        return proxy.get("/")

    def test_bytes_that_nobody_asked_for_are_nobodys_response(self):
        for unasked in (b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret",
                        b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", b"x"):
            for waits_for_the_end in (False, True):
                with self.subTest(unasked=unasked, waits_for_the_end=waits_for_the_end):
                    self.assertEqual(self.unasked_for(unasked, waits_for_the_end), (200, b"own"))

    def test_a_server_that_is_silent(self):
        silent = threading.Event()
        self.addCleanup(silent.set)
        proxy = self.start_before(lambda peer: silent.wait(20), "--timeout", "0.3")
        self.assertEqual(proxy.get("/")[0], 504)

    def test_a_slow_client_is_not_a_slow_server(self):
        proxy = self.start(f"127.0.0.1:{self.upstream.server_address[1]}", "--timeout", "0.5")

        def pieces():
            for _ in range(4):
                time.sleep(0.25)
                yield b"abc"
            time.sleep(0.8)

        self.assertEqual(proxy.request("POST", "/", pieces(), encode_chunked=True)[2], b"abc" * 4)

    def test_a_client_that_leaves_ends_the_request_behind(self):
        ended = threading.Event()

        def wait_for_the_end(peer):
            if peer.recv(1) == b"":
                ended.set()

        proxy = self.start_before(wait_for_the_end)
        with proxy.socket() as peer:
            peer.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            time.sleep(0.1)
        self.assertTrue(ended.wait(10))

    def test_a_signal_ends_it_behind_the_request_under_way(self):
        connection = self.proxy.connect()
        connection.request("GET", "/empty")
        connection.getresponse().read()
        connection.request("GET", "/sleep")
        self.proxy.process.send_signal(signal.SIGTERM)
        answer = connection.getresponse()
        self.assertEqual((answer.status, answer.read()), (200, b"slept"))
        self.assertEqual(self.proxy.process.wait(20), 0)

    def test_a_wrong_option_is_named_with_what_is_expected(self):
        for arguments, wrong in (([], "--upstream is missing"), (["--upstream"], "--upstream needs a value"),
                                 (["--upstream", "a:1", "--timeout", "-1"], '--timeout: expected seconds, more than 0, got "-1"'),
                                 (["--upstream", "nonsense"], '--upstream: expected HOST:PORT, got "nonsense"'),
                                 (["--upstream", "127.0.0.1:99999"], '--upstream: expected HOST:PORT, got "127.0.0.1:99999"'),
                                 (["--upstream", "a:1", "--trust-forwarded", "1"], '--trust-forwarded: expected yes or no, got "1"'),
                                 (["--other", "1"], "unknown option: --other")):
            done = subprocess.run([str(BIN / "reverse_proxy"), *arguments], capture_output=True, text=True, timeout=20)
            self.assertEqual((done.returncode, "usage:" in done.stderr), (2, True))
            self.assertIn(wrong, done.stderr)


if __name__ == "__main__":
    unittest.main()
