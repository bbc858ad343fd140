"""gyre proxy: what it passes on to servers and clients, and what it drops."""

import http.client
import json
import os
import re
import socket
import time
import unittest
from pathlib import Path

from raw_http import all_at_once, exchange, read_all, read_until
from scripted import Scripted, Upstream, answering, read_head, remembering
from support import BIN, Proxy, Serve, run, temporary_folder

GUIDE = Path(__file__).resolve().parents[2] / "docs/guide/proxy.md"


def get(target="/", *fields):
    return "\r\n".join((f"GET {target} HTTP/1.1", "Host: a", "Connection: close", *fields, "", "")).encode()


def answer_to(proxy, *arguments):
    return exchange(proxy.port, get(*arguments)).decode()


def names_of(head):
    return [line.split(":")[0] for line in head.split("\r\n")[1:] if line]


def documented():
    """(the parts, the ends, the whole names) of the list of dropped fields in the guide."""
    text = GUIDE.read_text()
    section = text[text.index("The following fields of a client are dropped"):text.index("If a server trusts a field")]
    parts, ends, names = ([name for name in re.findall("`([^`]+)`", each.split(":")[0])]
                          for each in section.split("\n* ")[1:])
    return parts, ends, names


class Fields(unittest.TestCase):
    def seen_behind(self, proxy, target="/", headers=None, method="GET"):
        """Returns what the upstream server has seen of a request, and its fields by their names in lower case."""
        status, _, body = proxy.request(method, target, headers=headers)
        self.assertEqual(status, 200)
        seen = json.loads(body)
        return seen, {name.lower(): value for name, value in seen["headers"]}

    def start(self, *arguments, path=""):
        self.upstream = self.enterContext(Upstream())
        return self.enterContext(Proxy(f"http://127.0.0.1:{self.upstream.port}{path}", arguments=arguments))

    def test_fields_for_the_server_are_passed_on_and_fields_of_the_connection_are_not(self):
        seen, fields = self.seen_behind(self.start(), "/a%20b?c=d&e", {
            "Accept": "x/y", "Connection": "X-Secret, keep-alive", "X-Secret": "1", "TE": "trailers",
            "X-Forwarded-For": "10.1.2.3", "Forwarded": "for=10.1.2.3", "Host": "example.org"})
        self.assertEqual((seen["method"], seen["path"]), ("GET", "/a%20b?c=d&e"))
        self.assertEqual(fields, {
            "accept": "x/y", "accept-encoding": "identity", "host": "example.org", "x-forwarded-for": "127.0.0.1",
            "x-forwarded-proto": "http", "x-forwarded-host": "example.org", "via": "1.1 gyre",
            "forwarded": 'for=127.0.0.1;proto=http;host="example.org"', "te": "trailers", "connection": "TE"})

    def test_fields_of_the_server_are_passed_on_and_fields_of_its_connection_are_not(self):
        status, headers, _ = self.start().request()
        self.assertEqual((status, headers.get_all("X-Mine"), headers["Via"], headers["Content-Type"]),
                         (200, ["a", "b"], "1.1 gyre", "application/json"))
        self.assertIsNone(headers["X-Hop"])
        self.assertEqual((headers.get_all("Connection"), headers.get_all("Keep-Alive")),
                         (["keep-alive"], ["timeout=75"]), "those of the proxy's own connection")

    def test_nothing_is_added_but_what_describes_the_client(self):
        seen = json.loads(answer_to(self.start()).partition("\r\n\r\n")[2])
        self.assertEqual(sorted(name for name, _ in seen["headers"]),
                         ["Forwarded", "Host", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"])

    def test_a_trusted_client_may_describe_its_own_client(self):
        _, fields = self.seen_behind(self.start("--trust-forwarded"), headers={
            "X-Forwarded-For": "10.1.2.3", "X-Forwarded-Proto": "https", "CF-Connecting-IP": "10.66.66.66"})
        self.assertEqual((fields["x-forwarded-for"], fields["x-forwarded-proto"], fields["cf-connecting-ip"]),
                         ("10.1.2.3, 127.0.0.1", "https", "10.66.66.66"))

    def test_the_fields_of_the_documented_list_do_not_pass(self):
        parts, ends, names = documented()
        self.assertTrue(len(parts) == 2 and len(ends) == 9 and len(names) > 10, (parts, ends, names))
        for given in (parts, ends, names):
            self.assertNotIn("", given)
        lies = [*parts, *(f"X-{each}-Any" for each in parts), *ends, *(f"X-Any-{each}" for each in ends), *names,
                "Client-IP", "X-Forwarded", "X-Original-Forwarded-For", "X-Remote-IP", "X-Originating-IP",
                "CF-Connecting-IP", "Fastly-Client-IP", "True-Client-IP", "X-Cluster-Client-IP", "X-Client-IP",
                "X-Forwarded-Host", "X-Real-IP", "X.Forwarded.For"]
        lies += [each.upper().replace("-", "_") for each in lies]
        server, seen = remembering()
        with server, Proxy(server.port) as proxy:
            for some in (lies[:len(lies) // 2], lies[len(lies) // 2:]):
                answer = answer_to(proxy, "/", *(f"{name}: 10.66.66.66" for name in some), "X-Fine: 1")
                self.assertTrue(answer.startswith("HTTP/1.1 200 "), answer)
                self.assertNotIn("10.66.66.66", seen[-1])
                self.assertIn("X-Fine", names_of(seen[-1]))

    def test_options_and_trace_are_passed_on_by_no_more_than_they_say(self):
        proxy = self.start()
        for method, target, status in (("OPTIONS", "*", 204), ("OPTIONS", "/x", 204), ("TRACE", "/x", 501)):
            answer = proxy.request(method, target, headers={"Max-Forwards": "0"})
            self.assertEqual((answer[0], self.upstream.accepted), (status, 0), method)
        self.assertEqual(proxy.request("OPTIONS", "*")[0], 204)
        self.assertEqual(proxy.request("CONNECT", "example.org:443")[0], 501)
        for method, given, left in (("OPTIONS", "2", ["1"]), ("TRACE", "1", ["0"]), ("OPTIONS", "many", []),
                                    ("GET", "0", [])):
            seen, _ = self.seen_behind(proxy, "/x", {"Max-Forwards": given}, method)
            self.assertEqual([value for name, value in seen["headers"] if name == "Max-Forwards"], left, method)

    def test_the_path_of_the_server_comes_first_and_no_request_leaves_it(self):
        proxy = self.start("--server-host", path="/app/")
        seen, fields = self.seen_behind(proxy, "/x")
        self.assertEqual((seen["path"], fields["host"]), ("/app/x", f"127.0.0.1:{self.upstream.port}"))
        self.assertEqual(self.seen_behind(proxy, "/a/../../etc?x")[0]["path"], "/app/etc?x")
        self.assertEqual(proxy.get("/..%2fetc")[0], 400)
        self.assertNotIn("gyre proxy: ", proxy.said())

    def test_the_target_reaches_the_server_byte_for_byte(self):
        server, seen = remembering()
        with server, Proxy(server.port) as proxy:
            for target in ("/search?q=100%", "/x?u=%u00e9", "/a%", "/a/%2e%2e/b", "/a/../b", "/a//../b", "//host/a",
                           '/x?q={"a":1}', "/x?q=a^b`<>\\", "/%zz;/..%2f", "/a?", "http://a/b/../c%"):
                answer_to(proxy, target)
                self.assertEqual(seen[-1].split(" ")[1], target.removeprefix("http://a"))
            self.assertNotIn("gyre proxy: ", proxy.said())

    def test_the_date_of_the_server_reaches_the_client_once(self):
        date = "Date: Tue, 15 Nov 1994 08:12:31 GMT"
        for given, expected in ((f"{date}\r\nAge: 30\r\n", [1, 1]), ("", [1, 0]),
                                (f"{date}\r\nServer: b\r\n" * 3, [1, 1])):
            server, _ = remembering(f"HTTP/1.1 200 OK\r\n{given}Content-Length: 0\r\n\r\n".encode())
            with server, Proxy(server.port) as proxy:
                head = answer_to(proxy)
                self.assertEqual([head.count("Date: "), head.count(date)], expected, head)
                self.assertLessEqual(names_of(head).count("Server"), 1)

    def test_a_response_with_426_names_the_protocols_of_the_server(self):
        for status, reason in {426: "Upgrade Required", 200: "OK"}.items():
            server, _ = remembering(f"HTTP/1.1 {status} {reason}\r\nUpgrade: foo/1\r\nConnection: Upgrade\r\n"
                                    "Content-Length: 0\r\n\r\n".encode())
            with server, Proxy(server.port) as proxy:
                head = answer_to(proxy)
                self.assertEqual(["\r\nUpgrade: foo/1\r\n" in head, "\r\nConnection: close, Upgrade\r\n" in head],
                                 [status == 426] * 2, head)

    @unittest.skipUnless(socket.has_dualstack_ipv6(), "there is no IPv6")
    def test_an_ipv4_client_of_a_listener_for_both_families_has_its_ipv4_address(self):
        server, seen = remembering()
        with server, Proxy(server.port, arguments=["--listen", "[::]:0"]) as proxy:
            answer_to(proxy)
            self.assertIn("\r\nX-Forwarded-For: 127.0.0.1\r\n", seen[-1])
            self.assertIn('\r\nForwarded: for=127.0.0.1;proto=http;host="a"\r\n', seen[-1])

    def test_the_credentials_of_the_servers_url_are_sent_and_not_shown(self):
        server, seen = remembering()
        url = f"http://ann:secret@127.0.0.1:{server.__enter__().port}/v1"
        self.addCleanup(server.__exit__)
        own = "\r\nAuthorization: Basic YW5uOnNlY3JldA==\r\n"
        with Proxy(url) as proxy:
            answer_to(proxy)
            self.assertIn(own, seen[-1])
            answer_to(proxy, "/", "Authorization: Bearer own")
            self.assertIn("\r\nAuthorization: Bearer own\r\n", seen[-1])
            self.assertNotIn("Basic", seen[-1])
            self.assertIn(url.replace("ann:secret@", ""), proxy.said())
            self.assertNotIn("secret", proxy.said())
        del seen[:]
        with Proxy(url, arguments=["--health", "/h"]):
            deadline = time.monotonic() + 20
            while not seen:
                self.assertLess(time.monotonic(), deadline, "there is no health check")
                time.sleep(0.01)
            self.assertTrue(seen[0].startswith("GET /h HTTP/1.1\r\n"), seen[0])
            self.assertIn(own, seen[0])


class Bodies(unittest.TestCase):
    def setUp(self):
        self.upstream = self.enterContext(Upstream())
        self.proxy = self.enterContext(Proxy(self.upstream.port, arguments=["--timeout", "0.7"]))

    def test_large_bodies_pass_both_ways(self):
        body = os.urandom(20_000_000)
        pieces = (body[i:i + 77_777] for i in range(0, len(body), 77_777))
        for given, framing, size in ((body, "sized", len(body)), (pieces, "chunked", len(body)), (b"", "sized", 0),
                                     (iter([]), "chunked", 0)):
            status, headers, echo = self.proxy.request("POST", "/", given, encode_chunked=framing == "chunked")
            self.assertEqual((status, headers["X-Framing"], echo == body[:size]), (200, framing, True))

    def test_every_kind_of_body_passes(self):
        self.upstream.may_go_on.set()
        self.assertEqual(self.proxy.get("/pieces"), (200, b"piecepiece"))
        self.assertEqual(self.proxy.get("/until_end"), (200, b"z" * 100_000))
        self.assertEqual(self.proxy.get("/empty"), (204, b""))
        length = self.proxy.request("GET", "/x")[1]["Content-Length"]
        status, headers, body = self.proxy.request("HEAD", "/x")
        self.assertEqual((status, body, abs(int(headers["Content-Length"]) - int(length)) < 10), (200, b"", True))

    def test_a_response_passes_while_it_comes(self):
        connection = self.proxy.connect()
        connection.request("GET", "/pieces")
        answer = connection.getresponse()
        self.assertEqual(answer.read(5), b"piece")  # the next piece has not been sent yet
        self.upstream.may_go_on.set()
        self.assertEqual(answer.read(), b"piece")
        connection.close()

    def test_connections_to_the_server_are_used_again(self):
        connection = self.proxy.connect()
        for _ in range(20):
            connection.request("GET", "/")
            self.assertEqual(connection.getresponse().read()[:1], b"{")
        connection.close()
        self.assertEqual(self.upstream.accepted, 1)

    def test_requests_run_at_the_same_time(self):
        answers, seconds = all_at_once(40, lambda _: self.proxy.get("/sleep"))
        self.assertEqual(answers, [(200, b"slept")] * 40)
        self.assertLess(seconds, 8)  # one after another: 12 s

    def test_an_early_refusal_ends_the_upload(self):
        with self.proxy.socket() as peer:
            peer.sendall(b"POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n" + b"x" * 1000)
            answer = http.client.HTTPResponse(peer, method="POST")
            answer.begin()
            self.assertEqual((answer.status, answer.read(), answer.headers["Connection"]), (413, b"too much", "close"))

    def test_a_slow_client_is_not_a_slow_server(self):
        def pieces():
            for _ in range(4):
                time.sleep(0.25)
                yield b"abc"
            time.sleep(1)

        self.assertEqual(self.proxy.request("POST", "/", pieces(), encode_chunked=True)[2], b"abc" * 4)

    def test_both_sides_may_be_https(self):
        folder = temporary_folder(self)
        (folder / "a.txt").write_text("hello\n")
        server = self.enterContext(Serve(folder, "--tls", "auto"))
        for flags, expected in (((), (22, b"")), (("--insecure",), (0, b"hello\n"))):
            with Proxy(f"https://127.0.0.1:{server.port}", arguments=["--tls", "auto", *flags]) as proxy:
                done = run(BIN / "gyre", "fetch", "-k", "-o", "/dev/stdout", f"https://127.0.0.1:{proxy.port}/a.txt")
                self.assertEqual((done.returncode, done.stdout), expected)
                self.assertEqual("certificate is not accepted" in proxy.said(), flags == ())


class Upgrades(unittest.TestCase):
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
            with proxy.socket() as client:
                client.sendall(b"GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\n"
                               b"Upgrade: h2c, \"h2c\", websocket/13, websocket\r\nHTTP2-Settings: AAA\r\n"
                               b"Sec-WebSocket-Key: k\r\n\r\nearly ")
                head, _, data = read_until(client, b"EARLY ").partition(b"\r\n\r\n")
                self.assertTrue(head.startswith(b"HTTP/1.1 101 "), head)
                self.assertIn(b"Sec-WebSocket-Accept: abc", head)
                self.assertEqual(data, b"welcome EARLY ")
                client.sendall(b"late")
                client.shutdown(socket.SHUT_WR)
                self.assertEqual(read_all(client), b"LATE bye")
            self.assertEqual(proxy.metric("gyre_proxy_running", server.port), 0)

    def test_a_server_that_declines_an_upgrade_answers_as_usual(self):
        with answering("plain") as server, Proxy(server.port) as proxy:
            self.assertEqual(proxy.get(headers={"Connection": "Upgrade", "Upgrade": "websocket"}), (200, b"plain"))


if __name__ == "__main__":
    unittest.main()
