"""gyre serve takes uploads, and keeps nothing of those that fail."""

import gzip
import os
import signal
import unittest

from raw_http import WithTree, multipart, reset, upload
from support import BIN, Serve, ask, run


def send_a_part(peer, body, kind, size):
    """Announces a whole form, and sends its first `size` bytes."""
    peer.sendall(f"POST /_upload HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
                 f"Content-Length: {len(body)}\r\n\r\n".encode() + body[:size])


class Uploads(WithTree):
    def test_a_file_is_written_and_none_is_replaced(self):
        with Serve(self.root, "--upload", self.uploads) as server:
            for content, name in ((b"one", "x.txt"), (b"two", "x (2).txt")):
                self.assertEqual(upload(server.port, "../x.txt", content), (201, [name]))
            self.assertEqual((self.uploads / "x.txt").read_bytes(), b"one")
            self.assertEqual((self.uploads / "x (2).txt").read_bytes(), b"two")

    def test_long_names_get_their_number_too(self):
        with Serve(self.root, "--upload", self.uploads) as server:
            for name in ("n" * 251 + ".txt", "ü" * 127, "." + "e" * 254, "a." + "e" * 253):
                for _ in range(2):
                    self.assertEqual(upload(server.port, name, b"x")[0], 201)
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
        def make(numbers):  # links, which take a fraction of the time of files
            for i in numbers:
                os.link(self.uploads / "a.txt", self.uploads / f"a ({i}).txt")

        (self.uploads / "a.txt").touch()
        make(range(2, 5001))
        with Serve(self.root, "--upload", self.uploads) as server:
            self.assertEqual(upload(server.port, "a.txt", b"", 3), (201, [f"a ({i}).txt" for i in (5001, 5002, 5003)]))
            (self.uploads / "a (2).txt").unlink()
            self.assertEqual(upload(server.port, "a.txt", b"x"), (201, ["a (2).txt"]))
            make(range(5004, 10_001))
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
            answer = self.put(server, "large", b"x" * 1_900_000)
            self.assertEqual(answer, (507, b"the disk is full; nothing was kept\n"))
            self.assertEqual(upload(server.port, "small", b"x"), (201, ["small"]))

    def test_a_form_that_breaks_off_is_refused_with_what_was_kept(self):
        part = '--b\r\nContent-Disposition: form-data; name="file"; filename="{}"\r\n\r\nx\r\n'
        kind = {"Content-Type": "multipart/form-data; boundary=b"}
        wrong = "--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n"
        with Serve(self.root, "--upload", self.uploads) as server:
            status, _, text = ask(server.port, "/_upload", "POST", kind,
                                  (part.format("one") + part.format("two") + wrong).encode())
            self.assertEqual(status, 400)
            self.assertTrue(text.endswith(b"; kept: one, two\n"), text)
            many = "".join(part.format(f"many{i}") for i in range(25))
            status, _, text = ask(server.port, "/_upload", "POST", kind, (many + wrong).encode())
            self.assertEqual(status, 400)
            self.assertTrue(text.endswith(b", many19 and 5 more\n"), text)
            status, _, text = ask(server.port, "/_upload", "POST", kind, wrong.encode())
            self.assertEqual(status, 400)
            self.assertTrue(text.endswith(b"; nothing was kept\n"), text)

    def test_a_file_that_contains_the_boundary_is_not_kept_in_part(self):
        part = '--b\r\nContent-Disposition: form-data; name="file"; filename="cut"\r\n\r\none\r\n--bridge\r\ntwo'
        with Serve(self.root, "--upload", self.uploads) as server:
            status, _, text = ask(server.port, "/_upload", "POST",
                                  {"Content-Type": "multipart/form-data; boundary=b"}, (part + "\r\n--b--").encode())
            self.assertEqual(status, 400)
            self.assertTrue(text.endswith(b"; nothing was kept\n"), text)
            self.assertEqual(os.listdir(self.uploads), [])

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
            self.assertEqual(ask(server.port, "/a.txt", headers={"Accept-Encoding": "gzip"})[1]["content-encoding"],
                             "gzip")

    def test_programs_that_also_take_other_types_get_json(self):
        with Serve(self.root, "--upload", self.uploads) as server:
            body, kind = multipart("x", b"y")
            for accept, status in (("application/json, */*;q=0.1", 201), ("*/*", 303), ("text/html,*/*;q=0.8", 303)):
                answer = ask(server.port, "/_upload", "POST", {"Content-Type": kind, "Accept": accept}, body)
                self.assertEqual(answer[0], status)

    def test_a_directory_that_takes_no_files_is_named_at_once(self):
        done = run(BIN / "gyre", "serve", self.root, "--listen", "127.0.0.1:0", "--upload", "/proc", timeout=20)
        self.assertEqual((done.returncode, done.stderr),
                         (1, b"error: create a file in /proc: Operation not supported\n"))

    def test_one_that_is_too_large_is_413_and_leaves_nothing(self):
        with Serve(self.root, "--upload", self.uploads, "--max-upload", "100kb") as server:
            body, kind = multipart("x", b"y" * 1_000_000)
            with server.socket() as peer:
                peer.sendall(f"POST /_upload HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
                             f"Content-Length: {len(body)}\r\n\r\n".encode())
                self.assertIn(b" 413 ", peer.recv(4096))
            self.assertEqual(list(self.uploads.iterdir()), [])

    def test_files_around_the_size_of_a_block_arrive_whole(self):
        with Serve(self.root, "--upload", self.uploads) as server:
            small, large = 16 << 10, 256 << 10
            blocks = (0, small, small + large, small + 2 * large, small + 11 * large)
            for size in (each + more for each in blocks for more in (-1, 0, 1) if each + more >= 0):
                content = os.urandom(size)
                self.assertEqual(upload(server.port, f"{size}", content), (201, [f"{size}"]))
                self.assertEqual((self.uploads / f"{size}").read_bytes(), content)

    def test_one_that_stops_while_a_block_is_written_leaves_nothing(self):
        with Serve(self.root, "--upload", self.uploads) as server:
            body, kind = multipart("x", b"y" * 20_000_000)
            for length in range(200_000, 2_000_000, 50_000):
                with server.socket() as peer:
                    send_a_part(peer, body, kind, length)
                    reset(peer)
            self.assertEqual(upload(server.port, "after", b"z"), (201, ["after"]))
            self.assertEqual(os.listdir(self.uploads), ["after"])

    def test_a_server_that_is_forced_to_stop_keeps_no_part_of_an_upload(self):
        with Serve(self.root, "--upload", self.uploads) as server:
            body, kind = multipart("x", b"y" * 20_000_000)
            with server.socket() as peer:
                send_a_part(peer, body, kind, 10_000_000)
                server.process.send_signal(signal.SIGTERM)
                server.wait_until_it_stops_accepting()
                server.process.send_signal(signal.SIGTERM)
                self.assertEqual(server.process.wait(20), 128 + signal.SIGTERM)
            self.assertEqual(os.listdir(self.uploads), [])

    def test_one_that_is_cut_off_at_any_byte_leaves_nothing(self):
        with Serve(self.root, "--upload", self.uploads) as server:
            small, large = multipart("x", b"y"), multipart("x", b"y" * 1_000_000)
            end = small[0].index(b"y\r\n--") + 4  # behind it the file is complete, although the form is not
            for (body, kind), size in (*((small, size) for size in range(end)), (large, 500_000)):
                with server.socket() as peer:
                    send_a_part(peer, body, kind, size)
            self.assertEqual(ask(server.port, "/_upload")[0], 200)
            self.assertEqual(list(self.uploads.iterdir()), [])

    def put(self, server, name, content, **fields):
        """Returns the status and the text of the answer."""
        status, _, text = ask(server.port, f"/_upload/{name}", "PUT",
                              {key.replace("_", "-"): value for key, value in fields.items()}, content)
        return status, text

    def test_a_file_is_put_by_its_name(self):
        content = os.urandom(3_000_000)
        with Serve(self.root, "--upload", self.uploads) as server:
            self.assertEqual(self.put(server, "a%20b.bin", content), (201, b'{"files":["a b.bin"]}\n'))
            pieces = (content[i:i + 70_001] for i in range(0, len(content), 70_001))
            self.assertEqual(self.put(server, "chunked", pieces)[0], 201)
            self.assertEqual(self.put(server, "empty", b"")[0], 201)
            self.assertEqual((self.uploads / "a b.bin").read_bytes(), content)
            self.assertEqual((self.uploads / "chunked").read_bytes(), content)
            self.assertEqual((self.uploads / "empty").read_bytes(), b"")

    def test_a_put_replaces_no_file(self):
        (self.uploads / "link").symlink_to("nowhere")
        with Serve(self.root, "--upload", self.uploads) as server:
            self.assertEqual(self.put(server, "x", b"one")[0], 201)
            for name in ("x", "link"):
                self.assertEqual(self.put(server, name, b"two"), (409, b"a file of that name exists\n"))
            self.assertEqual((self.uploads / "x").read_bytes(), b"one")
            with server.socket() as peer:
                peer.sendall(b"PUT /_upload/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n"
                             b"Expect: 100-continue\r\n\r\n")
                self.assertTrue(peer.recv(4096).startswith(b"HTTP/1.1 409 "))

    def test_two_puts_of_one_name_at_the_same_time_give_one_file(self):
        head = b"PUT /_upload/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n"
        with Serve(self.root, "--upload", self.uploads) as server:
            peers = [server.socket() for _ in range(2)]
            for peer, first in zip(peers, (b"a", b"b")):
                peer.sendall(head + first)
            self.assertEqual(ask(server.port, "/_upload")[0], 200)  # most likely after both have begun
            answers = []
            for peer in peers:
                peer.sendall(b"z")
                answers.append(peer.recv(4096)[:13])
                peer.close()
            self.assertEqual(answers, [b"HTTP/1.1 201 ", b"HTTP/1.1 409 "])
            self.assertEqual((self.uploads / "x").read_bytes(), b"az")
            self.assertEqual(os.listdir(self.uploads), ["x"])

    def test_a_put_that_cannot_be_kept_as_it_is_is_refused(self):
        with Serve(self.root, "--upload", self.uploads, "--max-upload", "100kb") as server:
            for name in (".hidden", "..%2Fx", "a%2Fb", "%2e%2e", "a%00b", "a%5Cb", "n" * 256, "a%E2%80%AEb"):
                self.assertEqual(self.put(server, name, b"x")[0], 400, name)
            for part in ("bytes 0-0/2", ""):
                self.assertEqual(self.put(server, "x", b"x", Content_Range=part)[0], 400)
            for tag in ("*", '"a"'):
                self.assertEqual(self.put(server, "x", b"x", If_Match=tag)[0], 412)
            self.assertEqual(self.put(server, "x", b"x", Origin="https://evil.example")[0], 403)
            self.assertEqual(self.put(server, "x", b"x" * 102_401)[0], 413)
            self.assertEqual(self.put(server, "", b"x")[0], 405)
            self.assertEqual(ask(server.port, "/_upload/x")[0], 404)  # of the files
            with server.socket() as peer:
                peer.sendall(b"PUT /_upload/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90000\r\n\r\n" +
                             b"y" * 80_000)
            self.assertEqual(ask(server.port, "/_upload")[0], 200)
            self.assertEqual(list(self.uploads.iterdir()), [])

    def test_a_form_of_another_site_is_refused(self):
        with Serve(self.root, "--upload", self.uploads) as server:
            body, kind = multipart("x", b"y")
            status = ask(server.port, "/_upload", "POST", {"Content-Type": kind, "Origin": "https://evil.example"},
                         body)[0]
            self.assertEqual(status, 403)
            own = f"http://127.0.0.1:{server.port}"
            status = ask(server.port, "/_upload", "POST",
                         {"Content-Type": kind, "Origin": own, "Accept": "application/json"}, body)[0]
            self.assertEqual(status, 201)

    def test_without_the_flag_there_is_no_upload(self):
        with Serve(self.root) as server:
            self.assertEqual(ask(server.port, "/_upload", "POST")[0], 405)


if __name__ == "__main__":
    unittest.main()
