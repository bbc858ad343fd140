"""gyre serve, used by http.client and plain sockets: names of hosts, files, and fields of responses."""

import gzip
import http.client
import unittest

from raw_http import LARGE, WithTree, multipart, read_all
from support import BIN, Serve, ask, run


class Hosts(WithTree):
    """DNS rebinding: a page of evil.example lets that name resolve to 127.0.0.1, which makes the two the same site."""

    def answers(self, port, names, path="/a.txt"):
        return {name: ask(port, path, headers={"Host": name})[0] for name in names}

    def test_a_server_on_loopback_answers_under_addresses_and_localhost(self):
        names = ("127.0.0.1", "127.0.0.1:8080", "localhost", "LocalHost:80", "localhost.", "app.localhost", "[::1]",
                 "[::1]:80", "192.168.1.7")
        with Serve(self.root) as server:
            self.assertEqual(self.answers(server.port, names), dict.fromkeys(names, 200))

    def test_a_server_on_loopback_refuses_other_names(self):
        names = ("evil.example", "evil.example:80", "a", "localhost.evil.example", "evillocalhost",
                 "127.0.0.1.evil.example", "1.2.3.4e",
                 f"evil.example.:{80}")
        with Serve(self.root, "--upload", self.uploads) as server:
            for path in ("/a.txt", "/", "/nothing", "/_upload"):
                self.assertEqual(self.answers(server.port, names, path), dict.fromkeys(names, 403))
            body, kind = multipart("x", b"x")
            fields = {"Host": "evil.example", "Origin": "http://evil.example", "Content-Type": kind}
            status, _, answer = ask(server.port, "/_upload", "POST", fields, body)
            self.assertEqual((status, answer), (403, b"this server does not answer under the name evil.example; "
                                                     b"--allow-host evil.example allows it\n"))
            self.assertEqual(list(self.uploads.iterdir()), [])

    def test_a_target_with_a_host_counts_and_not_the_field(self):
        with Serve(self.root) as server:
            self.assertEqual(ask(server.port, "http://evil.example/a.txt", headers={"Host": "localhost"})[0], 403)
            self.assertEqual(ask(server.port, "http://localhost/a.txt", headers={"Host": "evil.example"})[0], 200)

    def test_a_client_without_a_host_is_no_browser(self):
        with Serve(self.root) as server, server.socket() as peer:
            peer.sendall(b"GET /a.txt HTTP/1.0\r\n\r\n")
            self.assertTrue(read_all(peer).startswith(b"HTTP/1.1 200 "))

    def test_names_that_were_allowed_are_answered(self):
        with Serve(self.root, "--allow-host", "one.example,Two.Example.", "--allow-host", "three") as server:
            names = ("one.example", "ONE.example:80", "two.example", "three", "localhost")
            self.assertEqual(self.answers(server.port, names), dict.fromkeys(names, 200))
            self.assertEqual(ask(server.port, headers={"Host": "four"})[0], 403)
        with Serve(self.root, "--allow-host", "*") as server:
            self.assertEqual(ask(server.port, headers={"Host": "evil.example"})[0], 200)

    def test_a_server_on_all_addresses_answers_under_every_name_until_some_are_given(self):
        with Serve(self.root, listen="0.0.0.0:0") as server:
            self.assertEqual(ask(server.port, headers={"Host": "a.example"})[0], 200)
        with Serve(self.root, "--allow-host", "a.example", listen="0.0.0.0:0") as server:
            self.assertEqual(self.answers(server.port, ("a.example", "b.example", "127.0.0.1")),
                             {"a.example": 200, "b.example": 403, "127.0.0.1": 200})

    def test_metrics_on_loopback_are_not_for_other_names_either(self):
        with Serve(self.root, "--admin", "127.0.0.1:0") as server:
            self.assertEqual(ask(server.admin, "/metrics", headers={"Host": "evil.example"})[0], 403)
            self.assertEqual(ask(server.admin, "/metrics")[0], 200)

    def test_a_name_with_a_port_is_no_name(self):
        done = run(BIN / "gyre", "serve", self.root, "--allow-host", "a:80", timeout=20)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b'expected the name of a host without a port, or * for any, got "a:80"', done.stderr)


class Files(WithTree):
    def test_files_directories_and_what_is_not_there(self):
        with Serve(self.root) as server:
            self.assertEqual(ask(server.port, "/a.txt")[2], b"alpha\n" * 1000)
            self.assertIn(b"sub/", ask(server.port, "/")[2])
            self.assertEqual(ask(server.port, "/sub")[1]["location"], "./sub/")
            self.assertEqual(ask(server.port, "/nothing")[0], 404)

    def test_a_large_file_arrives_whole_on_every_thread(self):
        content = (self.root / "large").read_bytes()
        with Serve(self.root, "--threads", 3) as server:
            for _ in range(8):
                self.assertTrue(ask(server.port, "/large")[2] == content)

    def test_the_limit_of_connections_is_that_of_all_threads(self):
        with Serve(self.root, "--threads", 4, "--max-connections", 2) as server:
            held = [http.client.HTTPConnection("127.0.0.1", server.port, timeout=10) for _ in range(2)]
            for each in held:
                each.request("GET", "/a.txt")
                self.assertEqual(each.getresponse().read(), b"alpha\n" * 1000)
            for _ in range(8):  # on any of the threads
                self.assertEqual(ask(server.port, "/a.txt")[0], 503)
            for each in held:
                each.close()

    def test_an_application_of_one_page_gets_its_index_for_every_page(self):
        (self.root / "index.html").write_text("<p>app")
        with Serve(self.root, "--spa") as server:
            self.assertEqual(ask(server.port, "/some/page", headers={"Accept": "text/html"})[2], b"<p>app")
            self.assertEqual(ask(server.port, "/some/script.js", headers={"Accept": "application/octet-stream"})[0],
                             404)

    def test_an_application_of_one_page_without_a_page_is_refused(self):
        done = run(BIN / "gyre", "serve", self.root, "--spa", "--index", "", timeout=20)
        self.assertEqual((done.returncode, done.stderr),
                         (2, b"error: --spa answers with the index of the root: name a file with --index\n"))

    def test_no_listing_and_hidden_files(self):
        (self.root / ".secret").write_text("s")
        with Serve(self.root, "--no-listing") as server:
            self.assertEqual(ask(server.port, "/")[0], 404)
            self.assertEqual(ask(server.port, "/.secret")[0], 404)
        with Serve(self.root, "--hidden") as server:
            self.assertEqual(ask(server.port, "/.secret")[2], b"s")

    def test_fields_that_were_asked_for_are_in_every_response(self):
        with Serve(self.root, "--header", "X-One: 1", "--header", "X-Two: two words",
                   "--cache-control", "max-age=60") as server:
            fields = ask(server.port, "/a.txt")[1]
            self.assertEqual((fields["x-one"], fields["x-two"], fields["cache-control"]),
                             ("1", "two words", "max-age=60"))
            self.assertEqual(ask(server.port, "/nothing")[1]["x-one"], "1")

    def test_fields_of_one_name_are_all_sent_and_what_caches_need_stays(self):
        given = ("--header", "Link: </a>", "--header", "link: </b>",
                 "--header", "Vary: Cookie", "--header", "Content-Type: a/b")
        with Serve(self.root, *given) as server:
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
            self.addCleanup(connection.close)
            connection.request("GET", "/a.txt")
            fields = connection.getresponse().headers
            self.assertEqual(fields.get_all("Link"), ["</a>", "</b>"])
            self.assertEqual(", ".join(fields.get_all("Vary")), "Accept-Encoding, Cookie")
            self.assertEqual(fields.get_all("Content-Type"), ["a/b"])

    def test_text_is_compressed_when_asked_for(self):
        with Serve(self.root, "--compress") as server:
            _, fields, body = ask(server.port, "/a.txt", headers={"Accept-Encoding": "gzip"})
            self.assertEqual(fields["content-encoding"], "gzip")
            self.assertEqual(gzip.decompress(body), b"alpha\n" * 1000)
            self.assertNotIn("content-encoding", ask(server.port, "/a.txt")[1])

    def test_other_origins_may_read_when_they_are_named(self):
        with Serve(self.root, "--cors", "https://example.com") as server:
            allowed = ask(server.port, "/a.txt", headers={"Origin": "https://example.com"})[1]
            self.assertEqual(allowed["access-control-allow-origin"], "https://example.com")
            other = ask(server.port, "/a.txt", headers={"Origin": "https://evil.example"})[1]
            self.assertNotIn("access-control-allow-origin", other)

    def test_pages_of_other_origins_read_parts_and_tags_of_files(self):
        with Serve(self.root, "--cors", "*") as server:
            preflight = ask(server.port, "/large", "OPTIONS", {
                "Origin": "https://example.com", "Access-Control-Request-Method": "GET",
                "Access-Control-Request-Headers": "if-none-match,if-range,range"})
            self.assertEqual(preflight[0], 204)
            allowed = preflight[1]["access-control-allow-headers"].lower().split(", ")
            self.assertLessEqual({"range", "if-range", "if-none-match"}, set(allowed))
            fields = {"Origin": "https://example.com", "Range": "bytes=-8"}
            status, fields, body = ask(server.port, "/large", headers=fields)
            self.assertEqual((status, body), (206, LARGE[-8:]))
            exposed = fields["access-control-expose-headers"].split(", ")
            self.assertLessEqual({"Content-Range", "Accept-Ranges", "ETag"}, set(exposed))


if __name__ == "__main__":
    unittest.main()
