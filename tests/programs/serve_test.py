"""gyre serve, used by http.client, plain sockets and signals."""

import gzip
import http.client
import json
import os
import resource
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

from support import BIN, Serve, run


def ask(port, path="/", method="GET", headers=None, body=None):
    """Returns status, fields (lower case) and body of one request on a new connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request(method, path, body=body, headers=headers or {})
        response = connection.getresponse()
        return response.status, {k.lower(): v for k, v in response.getheaders()}, response.read()
    finally:
        connection.close()


def read_all(peer):
    """Returns everything until the peer closes."""
    received = b""
    while chunk := peer.recv(65_536):
        received += chunk
    return received


def multipart(name, content, count=1):
    boundary = "gyre-test-boundary"
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    parts = (head.encode("utf-8", "surrogateescape") + content + b"\r\n") * count
    return parts + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


def upload(port, name, content, count=1):
    """Returns the status and the names of the files, or the text of the refusal."""
    body, kind = multipart(name, content, count)
    status, _, answer = ask(port, "/_upload", "POST", {"Content-Type": kind, "Accept": "application/json"}, body)
    return status, json.loads(answer)["files"] if status == 201 else answer


class WithTree(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name, "root")
        (self.root / "sub").mkdir(parents=True)
        (self.root / "a.txt").write_text("alpha\n" * 1000)
        (self.root / "sub/b.txt").write_text("beta\n")
        (self.root / "large").write_bytes(os.urandom(8 << 20))
        self.uploads = Path(scratch.name, "uploads")
        self.uploads.mkdir()


class Hosts(WithTree):
    """DNS rebinding: a page of evil.example lets that name resolve to 127.0.0.1, which makes the two the same site."""

    def answers(self, port, names, path="/a.txt"):
        return {name: ask(port, path, headers={"Host": name})[0] for name in names}

    def test_a_server_on_loopback_answers_under_addresses_and_localhost(self):
        names = ("127.0.0.1", "127.0.0.1:8080", "localhost", "LocalHost:80", "localhost.", "app.localhost", "[::1]", "[::1]:80", "192.168.1.7")
        with Serve(self.root) as server:
            self.assertEqual(self.answers(server.port, names), dict.fromkeys(names, 200))

    def test_a_server_on_loopback_refuses_other_names(self):
        names = ("evil.example", "evil.example:80", "a", "localhost.evil.example", "evillocalhost", "127.0.0.1.evil.example", "1.2.3.4e",
                 f"evil.example.:{80}")
        with Serve(self.root, "--upload", self.uploads) as server:
            for path in ("/a.txt", "/", "/nothing", "/_upload"):
                self.assertEqual(self.answers(server.port, names, path), dict.fromkeys(names, 403))
            body, kind = multipart("x", b"x")
            fields = {"Host": "evil.example", "Origin": "http://evil.example", "Content-Type": kind}
            status, _, answer = ask(server.port, "/_upload", "POST", fields, body)
            self.assertEqual((status, answer), (403, b"this server does not answer under the name evil.example; --allow-host evil.example allows it\n"))
            self.assertEqual(list(self.uploads.iterdir()), [])

    def test_a_target_with_a_host_counts_and_not_the_field(self):
        with Serve(self.root) as server:
            self.assertEqual(ask(server.port, "http://evil.example/a.txt", headers={"Host": "localhost"})[0], 403)
            self.assertEqual(ask(server.port, "http://localhost/a.txt", headers={"Host": "evil.example"})[0], 200)

    def test_a_client_without_a_host_is_no_browser(self):
        with Serve(self.root) as server, socket.create_connection(("127.0.0.1", server.port), timeout=20) as peer:
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
            self.assertEqual(ask(server.port, "/some/script.js", headers={"Accept": "application/octet-stream"})[0], 404)

    def test_an_application_of_one_page_without_a_page_is_refused(self):
        done = run(BIN / "gyre", "serve", self.root, "--spa", "--index", "", timeout=20)
        self.assertEqual((done.returncode, done.stderr), (2, b"error: --spa answers with the index of the root: name a file with --index\n"))

    def test_a_file_has_one_path(self):
        with Serve(self.root) as server:
            self.assertEqual(ask(server.port, "/sub//b.txt?x")[1]["location"], "../../sub/b.txt?x")
            for path in ("/sub/../a.txt", "/%2e/a.txt", "/sub/%2E%2e/a.txt"):
                self.assertEqual(ask(server.port, path)[0], 404, path)

    def test_no_listing_and_hidden_files(self):
        (self.root / ".secret").write_text("s")
        with Serve(self.root, "--no-listing") as server:
            self.assertEqual(ask(server.port, "/")[0], 404)
            self.assertEqual(ask(server.port, "/.secret")[0], 404)
        with Serve(self.root, "--hidden") as server:
            self.assertEqual(ask(server.port, "/.secret")[2], b"s")

    def test_fields_that_were_asked_for_are_in_every_response(self):
        with Serve(self.root, "--header", "X-One: 1", "--header", "X-Two: two words", "--cache-control", "max-age=60") as server:
            fields = ask(server.port, "/a.txt")[1]
            self.assertEqual((fields["x-one"], fields["x-two"], fields["cache-control"]), ("1", "two words", "max-age=60"))
            self.assertEqual(ask(server.port, "/nothing")[1]["x-one"], "1")

    def test_fields_of_one_name_are_all_sent_and_what_caches_need_stays(self):
        given = ("--header", "Link: </a>", "--header", "link: </b>", "--header", "Vary: Cookie", "--header", "Content-Type: a/b")
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
            self.assertNotIn("access-control-allow-origin", ask(server.port, "/a.txt", headers={"Origin": "https://evil.example"})[1])

    def test_a_file_that_shrinks_while_it_is_sent_cuts_the_connection(self):
        (self.root / "large").write_bytes(os.urandom(64 << 20))
        with Serve(self.root) as server, socket.create_connection(("127.0.0.1", server.port), 20) as peer:
            peer.sendall(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
            received = peer.recv(4096)
            os.truncate(self.root / "large", 1 << 20)
            try:
                while chunk := peer.recv(65_536):
                    received += chunk
            except ConnectionResetError:
                pass
            self.assertLess(len(received), 64 << 20)
            self.assertEqual(ask(server.port, "/a.txt")[0], 200)


class Uploads(WithTree):
    def test_a_file_is_written_and_none_is_replaced(self):
        with Serve(self.root, "--upload", self.uploads) as server:
            for content in (b"one", b"two"):
                body, kind = multipart("../x.txt", content)
                status, _, answer = ask(server.port, "/_upload", "POST", {"Content-Type": kind, "Accept": "application/json"}, body)
                self.assertEqual(status, 201, answer)
            self.assertEqual((self.uploads / "x.txt").read_bytes(), b"one")
            self.assertEqual((self.uploads / "x (2).txt").read_bytes(), b"two")

    def test_long_names_get_their_number_too(self):
        with Serve(self.root, "--upload", self.uploads) as server:
            for name in ("n" * 251 + ".txt", "ü" * 127, "." + "e" * 254, "a." + "e" * 253):
                for _ in range(2):
                    body, kind = multipart(name, b"x")
                    status, _, answer = ask(server.port, "/_upload", "POST", {"Content-Type": kind, "Accept": "application/json"}, body)
                    self.assertEqual(status, 201, answer)
            names = sorted(each.name for each in self.uploads.iterdir())
            self.assertIn("n" * 247 + " (2).txt", names)
            self.assertIn("ü" * 125 + " (2)", names)
            self.assertEqual(len(names), 8)

    def test_a_name_that_is_no_text_is_written_as_it_is_and_answered_as_json(self):
        with Serve(self.root, "--upload", self.uploads) as server:
            self.assertEqual(upload(server.port, "ä\udced\udca0\udc80.txt", b"x"), (201, ["ä\ufffd\ufffd_.txt"]))
            self.assertEqual(upload(server.port, '\udce4%22.txt', b"x"), (201, ['\ufffd".txt']))
            self.assertIn('\udce4".txt', os.listdir(self.uploads))

    def test_a_name_does_not_hide_or_reorder_text(self):
        with Serve(self.root, "--upload", self.uploads) as server:
            self.assertEqual(upload(server.port, "photo\u202egpj.exe", b"x"), (201, ["photo_gpj.exe"]))
            self.assertEqual(upload(server.port, "a\x9b31m\u2066\ufeff", b"x"), (201, ["a_31m__"]))

    def test_a_number_is_found_among_thousands_and_in_gaps(self):
        (self.uploads / "a.txt").touch()
        for i in range(2, 5001):
            (self.uploads / f"a ({i}).txt").touch()
        with Serve(self.root, "--upload", self.uploads) as server:
            self.assertEqual(upload(server.port, "a.txt", b"", 3), (201, [f"a ({i}).txt" for i in (5001, 5002, 5003)]))
            (self.uploads / "a (2).txt").unlink()
            self.assertEqual(upload(server.port, "a.txt", b"x"), (201, ["a (2).txt"]))
            for i in range(5004, 10_001):
                (self.uploads / f"a ({i}).txt").touch()
            self.assertEqual(upload(server.port, "a.txt", b"x")[0], 409)
            (self.uploads / "a.txt").unlink()
            self.assertEqual(upload(server.port, "a.txt", b"x"), (201, ["a.txt"]))

    def test_a_full_disk_is_said_with_what_was_kept(self):
        full = self.uploads / "full"
        full.mkdir()
        if run("unshare", "-m", "mount", "-t", "tmpfs", "-o", "size=1m", "none", full).returncode != 0:
            self.skipTest("nothing may be mounted here")
        command = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=1m none "$0" && exec "$@"', full]
        with Serve(self.root, "--upload", full, before=command) as server:
            boundary = "b"
            part = '--b\r\nContent-Disposition: form-data; name="file"; filename="{}"\r\n\r\n'
            body = "".join(part.format(name) + "x" * size + "\r\n" for name, size in
                           (("one", 300_000), ("two", 300_000), ("three", 900_000), ("four", 1))) + "--b--\r\n"
            kind = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
            status, _, text = ask(server.port, "/_upload", "POST", kind, body.encode())
            self.assertEqual((status, text), (507, b"the disk is full; kept: one, two\n"))
            body = part.format("large") + "x" * 900_000 + "\r\n--b--\r\n"
            status, _, text = ask(server.port, "/_upload", "POST", kind, body.encode())
            self.assertEqual((status, text), (507, b"the disk is full; nothing was kept\n"))
            self.assertEqual(upload(server.port, "small", b"x"), (201, ["small"]))

    def test_a_form_that_breaks_off_is_refused_with_what_was_kept(self):
        part = '--b\r\nContent-Disposition: form-data; name="file"; filename="{}"\r\n\r\nx\r\n'
        kind = {"Content-Type": "multipart/form-data; boundary=b"}
        wrong = "--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n"
        with Serve(self.root, "--upload", self.uploads) as server:
            status, _, text = ask(server.port, "/_upload", "POST", kind, (part.format("one") + part.format("two") + wrong).encode())
            self.assertEqual(status, 400)
            self.assertTrue(text.endswith(b"; kept: one, two\n"), text)
            many = "".join(part.format(f"many{i}") for i in range(25))
            status, _, text = ask(server.port, "/_upload", "POST", kind, (many + wrong).encode())
            self.assertEqual(status, 400)
            self.assertTrue(text.endswith(b", many19 and 5 more\n"), text)
            status, _, text = ask(server.port, "/_upload", "POST", kind, wrong.encode())
            self.assertEqual(status, 400)
            self.assertTrue(text.endswith(b"; nothing was kept\n"), text)

    def test_many_files_of_one_name_are_numbered(self):
        with Serve(self.root, "--upload", self.uploads) as server:
            expected = ["a"] + [f"a ({i})" for i in range(2, 1001)]
            self.assertEqual(upload(server.port, "a", b"", 1000), (201, expected))
            self.assertEqual(upload(server.port, "a", b"", 2), (201, ["a (1001)", "a (1002)"]))
            self.assertEqual(sorted(os.listdir(self.uploads)), sorted(expected + ["a (1001)", "a (1002)"]))
            status, text = upload(server.port, "b", b"", 1001)
            self.assertEqual((status, "b (1001)" in os.listdir(self.uploads)), (413, False), text)

    def test_an_upload_does_not_pass_for_a_file_that_is_there(self):
        into = self.root / "sub/in"
        into.mkdir()
        (into / "c.txt").write_text("ours")
        for directory, below in ((into, "sub/in/"), (self.root, "")):
            with Serve(self.root, "--upload", f"{directory}/../{directory.name}/") as server:
                name = "c.txt" if below else "a.txt"
                self.assertEqual(upload(server.port, name + ".gz", gzip.compress(b"theirs"))[0], 201)
                _, fields, body = ask(server.port, f"/{below}{name}", headers={"Accept-Encoding": "gzip"})
                self.assertNotIn("content-encoding", fields)
                self.assertEqual(body, (directory / name).read_bytes())
                self.assertIn("no a.txt.gz is sent in place of an a.txt", "".join(server.lines))

    def test_compressed_neighbours_are_sent_when_uploads_go_elsewhere(self):
        (self.root / "a.txt.gz").write_bytes(gzip.compress(b"alpha\n" * 1000))
        with Serve(self.root, "--upload", self.uploads) as server:
            self.assertEqual(ask(server.port, "/a.txt", headers={"Accept-Encoding": "gzip"})[1]["content-encoding"], "gzip")

    def test_programs_that_also_take_other_types_get_json(self):
        with Serve(self.root, "--upload", self.uploads) as server:
            body, kind = multipart("x", b"y")
            for accept, status in (("application/json, */*;q=0.1", 201), ("*/*", 303), ("text/html,*/*;q=0.8", 303)):
                self.assertEqual(ask(server.port, "/_upload", "POST", {"Content-Type": kind, "Accept": accept}, body)[0], status)

    def test_a_directory_that_takes_no_files_is_named_at_once(self):
        done = run(BIN / "gyre", "serve", self.root, "--listen", "127.0.0.1:0", "--upload", "/proc", timeout=20)
        self.assertEqual((done.returncode, done.stderr), (1, b"error: create a file in /proc: Operation not supported\n"))

    def test_one_that_is_too_large_is_413_and_leaves_nothing(self):
        with Serve(self.root, "--upload", self.uploads, "--max-upload", "100kb") as server:
            body, kind = multipart("x", b"y" * 1_000_000)
            with socket.create_connection(("127.0.0.1", server.port), 20) as peer:
                peer.sendall(f"POST /_upload HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode())
                self.assertIn(b" 413 ", peer.recv(4096))
            self.assertEqual(list(self.uploads.iterdir()), [])

    def test_one_that_is_cut_off_leaves_nothing(self):
        with Serve(self.root, "--upload", self.uploads) as server:
            body, kind = multipart("x", b"y" * 1_000_000)
            with socket.create_connection(("127.0.0.1", server.port), 20) as peer:
                peer.sendall(f"POST /_upload HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode())
                peer.sendall(body[:500_000])
            self.assertEqual(ask(server.port, "/_upload")[0], 200)
            self.assertEqual(list(self.uploads.iterdir()), [])

    def test_a_form_of_another_site_is_refused(self):
        with Serve(self.root, "--upload", self.uploads) as server:
            body, kind = multipart("x", b"y")
            status = ask(server.port, "/_upload", "POST", {"Content-Type": kind, "Origin": "https://evil.example"}, body)[0]
            self.assertEqual(status, 403)
            own = f"http://127.0.0.1:{server.port}"
            status = ask(server.port, "/_upload", "POST", {"Content-Type": kind, "Origin": own, "Accept": "application/json"}, body)[0]
            self.assertEqual(status, 201)

    def test_without_the_flag_there_is_no_upload(self):
        with Serve(self.root) as server:
            self.assertEqual(ask(server.port, "/_upload", "POST")[0], 405)


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
        done = run(BIN / "gyre", "serve", self.root, "--threads", "x", timeout=20, env={**os.environ, "GYRE_THREADS": "two"})
        self.assertNotIn(b"environment", done.stderr)

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
                                (["--header", "Content-Length: 5"], "Content-Length"), (["--idle-timeout", "0"], "--idle-timeout"),
                                (["--idle-timeout", "nan"], "expected seconds"), (["--max-target", "0"], "at least 1, got"),
                                (["--max-header-bytes", "9" * 30], "at least 1, got"), (["--max-upload", "-1"], "4gb, got"),
                                (["--max-upload", "b"], "4gb, got"), (["--cache-control", "a\nb"], "Cache-Control"),
                                (["--unknown"], "--unknown")):
            done = run(BIN / "gyre", "serve", self.root, *arguments, timeout=20)
            self.assertIn(done.returncode, (1, 2), arguments)
            self.assertIn(word.encode(), done.stderr, arguments)
        done = run(BIN / "gyre", "serve", self.root / "nothing", timeout=20)
        self.assertEqual(done.returncode, 2)

    def test_an_address_that_is_taken_is_named(self):
        with Serve(self.root) as server:
            done = run(BIN / "gyre", "serve", self.root, "--listen", f"127.0.0.1:{server.port}", timeout=20)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"127.0.0.1:{server.port}: Address already in use".encode(), done.stderr)

    def test_the_address_of_a_server_that_was_killed_is_free_for_the_next_one(self):
        for admin in (f"unix:{self.uploads}/admin", None):
            with Serve(self.root, "--admin", admin or "127.0.0.1:0") as server:
                admin = admin or f"127.0.0.1:{server.admin}"
                server.process.kill()
                server.process.wait()
                with Serve(self.root, "--admin", admin):
                    pass

    def test_an_address_is_not_shared_with_another_server(self):
        with Serve(self.root, "--threads", 2) as server:
            address = f"127.0.0.1:{server.port}"
            done = run(BIN / "gyre", "serve", self.root, "--threads", 2, "--listen", address, timeout=20)
            self.assertEqual((done.returncode, done.stderr), (1, f"error: listen {address}: Address already in use\n".encode()))

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
        with Serve(self.root, "--max-target", 100, "--max-header-fields", 5, "--header-timeout", 0.2, "--idle-timeout", 0.2) as server:
            self.assertEqual(ask(server.port, "/" + "a" * 200)[0], 414)
            self.assertEqual(ask(server.port, "/", headers={f"X-{i}": "1" for i in range(9)})[0], 431)
            with socket.create_connection(("127.0.0.1", server.port), 20) as peer:
                peer.sendall(b"GET / HT")
                self.assertIn(b" 408 ", read_all(peer))
            with socket.create_connection(("127.0.0.1", server.port), 20) as peer:
                peer.sendall(b"GET /a.txt HTTP/1.1\r\nHost: localhost\r\n\r\n")
                self.assertTrue(read_all(peer).endswith(b"alpha\n"))  # then closed, because it is idle

    def test_too_many_connections_are_503(self):
        with Serve(self.root, "--max-connections", 2) as server:
            held = [socket.create_connection(("127.0.0.1", server.port), 20) for _ in range(2)]
            for each in held:
                each.sendall(b"GET /sub/b.txt HTTP/1.1\r\nHost: localhost\r\n\r\n")
                self.assertIn(b" 200 ", each.recv(4096))
            with socket.create_connection(("127.0.0.1", server.port), 20) as peer:
                peer.shutdown(socket.SHUT_WR)
                self.assertIn(b" 503 ", read_all(peer))
            for each in held:
                each.close()


class Ending(WithTree):
    def test_a_signal_ends_it_with_exit_code_0_and_a_second_one_at_once(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with Serve(self.root, "--threads", 2) as server:
                ask(server.port, "/a.txt")
                self.assertEqual(server.stop(number), 0)

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
        (self.root / "large").write_bytes(os.urandom(64 << 20))
        with Serve(self.root, "--admin", "127.0.0.1:0") as server, socket.create_connection(("127.0.0.1", server.port), 20) as peer:
            peer.sendall(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
            received = bytearray(peer.recv(4096))  # += on bytes copies it all each time, longer than the drain
            server.process.send_signal(signal.SIGTERM)
            deadline = time.monotonic() + 10
            while ask(server.admin, "/readyz")[0] != 503 and time.monotonic() < deadline:
                pass
            self.assertEqual(ask(server.admin, "/readyz")[0], 503)
            while self.accepts_connections(server.port) and time.monotonic() < deadline:
                pass
            self.assertFalse(self.accepts_connections(server.port))
            while chunk := peer.recv(1 << 20):
                received += chunk
            self.assertTrue(received.endswith((self.root / "large").read_bytes()))
            self.assertEqual(server.process.wait(20), 0)

    def accepts_connections(self, port):
        try:
            socket.create_connection(("127.0.0.1", port), 5).close()
            return True
        except OSError:
            return False

    def test_no_accepted_request_is_lost_under_load(self):
        """Clients that continue until the server closes the connection, or until they cannot connect any more."""
        failures, answered = [], []

        def client(port):
            count = 0
            try:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
                connection.connect()
                while True:
                    connection.request("GET", "/sub/b.txt")
                    response = connection.getresponse()
                    body = response.read()
                    if response.status != 200 or body != b"beta\n":
                        failures.append((response.status, body))
                        break
                    count += 1
                    if response.getheader("Connection") == "close":
                        break
            except Exception as error:  # any exception means a lost request
                failures.append(error)
            answered.append(count)

        with Serve(self.root, "--threads", 2) as server:
            clients = [threading.Thread(target=client, args=(server.port,)) for _ in range(24)]
            for each in clients:
                each.start()
            time.sleep(0.5)
            self.assertEqual(server.stop(), 0)
            for each in clients:
                each.join(30)
        self.assertEqual(failures, [])
        self.assertEqual(len(answered), 24)
        self.assertGreater(sum(answered), 24)


if __name__ == "__main__":
    unittest.main()
