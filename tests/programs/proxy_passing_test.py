"""gyre proxy: what passes it unchanged, and what does not pass."""

import re
import socket
import unittest
from pathlib import Path

from proxy_support import Proxy, ok
from scripted import Scripted, read_head

GUIDE = Path(__file__).resolve().parents[2] / "docs/guide/proxy.md"


def remembering(answer=ok("")):
    """A server that keeps the heads of its requests, and answers with these bytes."""
    seen = []

    def serve(peer, _):
        while head := read_head(peer):
            seen.append(head)
            peer.sendall(answer)
    return Scripted(serve), seen


def exchange(port, request, host="127.0.0.1"):
    with socket.create_connection((host, port), timeout=20) as peer:
        peer.sendall(request)
        text = b""
        while piece := peer.recv(65536):
            text += piece
        return text.decode()


def get(target="/", *fields):
    return "\r\n".join((f"GET {target} HTTP/1.1", "Host: a", "Connection: close", *fields, "", "")).encode()


def names_of(head):
    return [line.split(":")[0] for line in head.split("\r\n")[1:] if line]


def documented():
    """(the parts, the ends, the whole names) of the list of dropped fields in the guide."""
    text = GUIDE.read_text()
    section = text[text.index("These fields of a client are dropped"):text.index("A server that trusts a field")]
    parts, ends, names = ([name for name in re.findall("`([^`]+)`", each.split(":")[0])]
                          for each in section.split("\n* ")[1:])
    return parts, ends, names


class Passing(unittest.TestCase):
    def test_the_target_reaches_the_server_byte_for_byte(self):
        server, seen = remembering()
        with server, Proxy(server.port) as proxy:
            for target in ("/search?q=100%", "/x?u=%u00e9", "/a%", "/a/%2e%2e/b", "/a/../b", "/a//../b", "//host/a",
                           '/x?q={"a":1}', "/x?q=a^b`<>\\", "/%zz;/..%2f", "/a?", "http://a/b/../c%"):
                exchange(proxy.port, get(target))
                self.assertEqual(seen[-1].split(" ")[1], target.removeprefix("http://a"))
            self.assertNotIn("gyre proxy: ", proxy.said())

    def test_the_fields_of_the_documented_list_do_not_pass(self):
        parts, ends, names = documented()
        self.assertTrue(len(parts) == 2 and len(ends) == 9 and len(names) > 10, (parts, ends, names))
        for given in (parts, ends, names):
            self.assertNotIn("", given)
        lies = [*parts, *(f"X-{each}-Any" for each in parts), *ends, *(f"X-Any-{each}" for each in ends), *names,
                "Client-IP", "X-Forwarded", "X-Original-Forwarded-For", "X-Remote-IP", "X-Originating-IP",
                "CF-Connecting-IP", "Fastly-Client-IP", "True-Client-IP", "X-Cluster-Client-IP", "X-Client-IP"]
        lies += [each.upper().replace("-", "_") for each in lies]
        server, seen = remembering()
        with server, Proxy(server.port) as proxy:
            for some in (lies[:len(lies) // 2], lies[len(lies) // 2:]):
                answer = exchange(proxy.port, get("/", *(f"{name}: 10.66.66.66" for name in some), "X-Fine: 1"))
                self.assertTrue(answer.startswith("HTTP/1.1 200 "), answer)
                self.assertNotIn("10.66.66.66", seen[-1])
                self.assertIn("X-Fine", names_of(seen[-1]))
        with server, Proxy(server.port, arguments=["--trust-forwarded"]) as proxy:
            exchange(proxy.port, get("/", "CF-Connecting-IP: 10.66.66.66"))
            self.assertIn("CF-Connecting-IP: 10.66.66.66", seen[-1])

    def test_the_date_of_the_server_reaches_the_client_once(self):
        date = "Date: Tue, 15 Nov 1994 08:12:31 GMT"
        server, _ = remembering(f"HTTP/1.1 200 OK\r\n{date}\r\nAge: 30\r\nContent-Length: 0\r\n\r\n".encode())
        with server, Proxy(server.port) as proxy:
            head = exchange(proxy.port, get())
            self.assertEqual((head.count("Date: "), head.count(date)), (1, 1), head)
        server, _ = remembering()
        with server, Proxy(server.port) as proxy:
            self.assertEqual(exchange(proxy.port, get()).count("Date: "), 1)

    def test_a_response_with_426_names_the_protocols_of_the_server(self):
        answers = {426: "Upgrade Required", 200: "OK"}
        for status, reason in answers.items():
            server, _ = remembering(f"HTTP/1.1 {status} {reason}\r\nUpgrade: foo/1\r\nConnection: Upgrade\r\n"
                                    "Content-Length: 0\r\n\r\n".encode())
            with server, Proxy(server.port) as proxy:
                head = exchange(proxy.port, get())
                self.assertEqual(["\r\nUpgrade: foo/1\r\n" in head, "\r\nConnection: close, Upgrade\r\n" in head],
                                 [status == 426] * 2, head)

    @unittest.skipUnless(socket.has_dualstack_ipv6(), "there is no IPv6")
    def test_an_ipv4_client_of_a_listener_for_both_families_has_its_ipv4_address(self):
        server, seen = remembering()
        with server, Proxy(server.port, arguments=["--listen", "[::]:0"]) as proxy:
            exchange(proxy.port, get())
            self.assertIn("\r\nX-Forwarded-For: 127.0.0.1\r\n", seen[-1])
            self.assertIn('\r\nForwarded: for=127.0.0.1;proto=http;host="a"\r\n', seen[-1])

    def test_the_credentials_of_the_servers_url_are_sent_and_not_shown(self):
        server, seen = remembering()
        with server, Proxy(f"http://ann:secret@127.0.0.1:{server.port}/v1") as proxy:
            exchange(proxy.port, get())
            self.assertIn("\r\nAuthorization: Basic YW5uOnNlY3JldA==\r\n", seen[-1])
            exchange(proxy.port, get("/", "Authorization: Bearer own"))
            self.assertIn("\r\nAuthorization: Bearer own\r\n", seen[-1])
            self.assertNotIn("Basic", seen[-1])
            self.assertIn(f"http://127.0.0.1:{server.port}/v1", proxy.said())
            self.assertNotIn("secret", proxy.said())

    def test_health_checks_have_the_credentials_of_the_servers_url(self):
        server, seen = remembering()
        with server, Proxy(f"http://ann:secret@127.0.0.1:{server.port}/v1", arguments=["--health", "/h"]) as proxy:
            exchange(proxy.port, get())
            checks = [head for head in seen if head.startswith("GET /h HTTP/1.1\r\n")]
            self.assertIn("\r\nAuthorization: Basic YW5uOnNlY3JldA==\r\n", checks[0])

    def test_repeated_fields_that_a_response_has_once_pass_once(self):
        server, _ = remembering(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n" + b"Date: a\r\nServer: b\r\n" * 3 + b"\r\n")
        with server, Proxy(server.port) as proxy:
            names = names_of(exchange(proxy.port, get()))
            self.assertEqual([names.count("Date"), names.count("Server")], [1, 1])


if __name__ == "__main__":
    unittest.main()
