"""gyre fetch: files, standard output, resumed downloads and exit codes, against `gyre serve` and scripted servers."""

import fcntl
import gzip
import json
import os
import pty
import signal
import struct
import subprocess
import termios
import threading
import unittest

from scripted import Scripted, read_head
from support import BIN, Serve, run, temporary_folder


def fetch(*arguments, environment=None, **options):
    without_proxy = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    done = run(BIN / "gyre", "fetch", *arguments, env=without_proxy | (environment or {}), **options)
    return done.returncode, done.stdout, done.stderr.decode()


class Fetch(unittest.TestCase):
    def setUp(self):
        self.root, self.out = temporary_folder(self), temporary_folder(self)
        self.big = os.urandom(3_000_000)
        (self.root / "a.txt").write_text("hello\n")
        (self.root / "big").write_bytes(self.big)

    def names(self):
        return sorted(each.name for each in self.out.iterdir())

    def test_bodies_go_to_standard_output_in_the_order_of_the_urls(self):
        with Serve(self.root) as server:
            base = f"http://127.0.0.1:{server.port}"
            self.assertEqual(fetch(f"{base}/a.txt", f"{base}/big", f"{base}/a.txt"),
                             (0, b"hello\n" + self.big + b"hello\n", ""))

    def test_a_signal_ends_it_while_it_waits_for_the_body_of_the_request(self):
        pipe = self.out / "pipe"
        os.mkfifo(pipe)
        with subprocess.Popen([BIN / "gyre", "fetch", "--data", f"@{pipe}", "http://127.0.0.1:1/"]) as fetching:
            writer = os.open(pipe, os.O_WRONLY)  # waits for the reader
            fetching.send_signal(signal.SIGINT)
            self.assertEqual(fetching.wait(timeout=20), -signal.SIGINT)
            os.close(writer)

    def test_the_head_is_printed_on_request(self):
        with Serve(self.root) as server:
            code, out, _ = fetch("-i", f"http://127.0.0.1:{server.port}/a.txt")
            self.assertEqual(code, 0)
            self.assertTrue(out.startswith(b"HTTP/1.1 200 OK\r\n") and out.endswith(b"\r\n\r\nhello\n"), out)
            code, out, _ = fetch("-I", f"http://127.0.0.1:{server.port}/a.txt")
            self.assertTrue(out.startswith(b"HTTP/1.1 200 OK\r\n") and b"Content-Length: 6\r\n" in out
                            and out.endswith(b"\r\n\r\n"), out)

    def test_files_get_their_names_when_they_are_complete(self):
        with Serve(self.root) as server:
            base = f"http://127.0.0.1:{server.port}"
            code, out, said = fetch("-O", "--output-dir", self.out, f"{base}/a.txt", f"{base}/big?x=/y")
            self.assertEqual((code, out), (0, b""))
            self.assertIn(f"{self.out}/a.txt: 6 B in ", said)
            self.assertEqual(self.names(), ["a.txt", "big"])
            self.assertEqual((self.out / "big").read_bytes(), self.big)
            self.assertEqual(fetch("-s", "-o", self.out / "b", f"{base}/a.txt"), (0, b"", ""))
            self.assertEqual((self.out / "b").read_text(), "hello\n")

    def test_a_status_of_400_or_more_leaves_no_file_and_is_exit_code_22(self):
        with Serve(self.root) as server:
            url = f"http://127.0.0.1:{server.port}/nothing"
            code, _, said = fetch("-o", self.out / "x", url)
            self.assertEqual((code, self.names()), (22, []))
            self.assertIn("the server answered 404 Not Found", said)
            code, out, _ = fetch(url)
            self.assertEqual((code, out), (22, b"Not Found\n"))

    def cut_off_once(self, tag):
        """A server of `big` that breaks off in the middle of the first response, and supports ranges."""
        self.asked = []

        def serve(peer, number):
            head = read_head(peer)
            self.asked.append([line for line in head.split("\r\n") if line.startswith(("Range", "If-Range"))])
            lines = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
            first = 0
            if "Range" in lines and lines.get("If-Range") == tag:
                first = int(lines["Range"].removeprefix("bytes=").removesuffix("-"))
                status = f"206 Partial Content\r\nContent-Range: bytes {first}-{len(self.big) - 1}/{len(self.big)}"
            else:
                status = "200 OK"
            rest = self.big[first:]
            peer.sendall(f"HTTP/1.1 {status}\r\nContent-Length: {len(rest)}\r\nETag: {tag}\r\n\r\n".encode())
            peer.sendall(rest[:1_000_000] if number == 0 else rest)

        return Scripted(serve)

    def test_an_unfinished_file_is_continued_by_a_later_call(self):
        with self.cut_off_once('"v1"') as server:
            url = f"http://127.0.0.1:{server.port}/big"
            code, _, said = fetch("-O", "--output-dir", self.out, url)
            self.assertEqual((code, self.names()), (18, ["big.part", "big.part.from"]), said)
            self.assertEqual((self.out / "big.part").read_bytes(), self.big[:1_000_000])
            code, _, said = fetch("-O", "-C", "--output-dir", self.out, url)
            self.assertEqual((code, self.names()), (0, ["big"]), said)
            self.assertIn("after 976.6 KiB of before", said)
            self.assertEqual((self.out / "big").read_bytes(), self.big)
            self.assertEqual(self.asked, [[], ["Range: bytes=1000000-", 'If-Range: "v1"']])

    def test_a_file_that_has_changed_is_fetched_anew(self):
        with self.cut_off_once('"v1"') as server:
            url = f"http://127.0.0.1:{server.port}/big"
            fetch("-O", "--output-dir", self.out, url)
            facts = self.out / "big.part.from"
            facts.write_text(facts.read_text().replace('"v1"', '"v0"'))
            code, _, said = fetch("-O", "-C", "--output-dir", self.out, url)
            self.assertEqual((code, self.names()), (0, ["big"]), said)
            self.assertEqual((self.out / "big").read_bytes(), self.big)

    def test_a_part_of_another_url_or_without_a_strong_validator_is_not_continued(self):
        with self.cut_off_once('W/"v1"') as server:
            url = f"http://127.0.0.1:{server.port}/big"
            fetch("-O", "--output-dir", self.out, url)
            code, _, _ = fetch("-O", "-C", "--output-dir", self.out, url)
            self.assertEqual((code, self.asked), (0, [[], []]))
        (self.out / "big.part").write_bytes(b"other")
        (self.out / "big.part.from").write_text('gyre fetch, unfinished\nhttp://127.0.0.1:1/big\n"v1"\n\n')
        with Serve(self.root) as server:
            code, _, _ = fetch("-s", "-O", "-C", "--output-dir", self.out, f"http://127.0.0.1:{server.port}/big")
            self.assertEqual(code, 0)
        self.assertEqual((self.out / "big").read_bytes(), self.big)

    def test_a_retry_continues_where_the_connection_broke(self):
        with self.cut_off_once('"v1"') as server:
            code, _, said = fetch("-O", "--retry", "2", "--output-dir", self.out, f"http://127.0.0.1:{server.port}/big")
            self.assertEqual((code, self.names()), (0, ["big"]), said)
            self.assertEqual((self.out / "big").read_bytes(), self.big)
            self.assertEqual(self.asked[1], ["Range: bytes=1000000-", 'If-Range: "v1"'])

    def test_bodies_are_sent_as_forms_or_json(self):
        seen = []

        def serve(peer, _):
            head = read_head(peer)
            length = int(head.lower().split("content-length: ")[1].split("\r\n")[0])
            body = head.split("\r\n\r\n", 1)[1].encode()
            while len(body) < length:
                body += peer.recv(1000)
            seen.append((head.split(" ")[0], [line for line in head.split("\r\n") if line.startswith(
                ("Content-Type", "Accept:", "Authorization", "X-"))], body))
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

        with Scripted(serve) as server:
            url = f"http://127.0.0.1:{server.port}/"
            fetch("-d", "a=1", "-H", "X-One: 1", url)
            fetch("--json", '{"a":1}', "-X", "PUT", "-u", "ann:secret", url)
        self.assertEqual(seen[0][0::2], ("POST", b"a=1"))
        self.assertIn("Content-Type: application/x-www-form-urlencoded", seen[0][1])
        self.assertIn("X-One: 1", seen[0][1])
        self.assertEqual(seen[1][0::2], ("PUT", b'{"a":1}'))
        self.assertLessEqual({"Content-Type: application/json", "Accept: application/json",
                              "Authorization: Basic YW5uOnNlY3JldA=="}, set(seen[1][1]))

    def test_two_urls_for_one_file_are_refused(self):
        with Serve(self.root) as server:
            base = f"http://127.0.0.1:{server.port}"
            for other in ("b/a.txt", "a.txt.part"):
                code, _, said = fetch("-O", "--output-dir", self.out, f"{base}/a.txt", f"{base}/{other}")
                self.assertEqual((code, self.names()), (2, []), said)
                self.assertIn("two of the URLs would be saved as", said)

    def test_a_proxy_comes_from_the_flag_or_the_environment(self):
        asked = []

        def serve(peer, _):
            asked.append(read_head(peer).split("\r\n")[0])
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nproxied")

        url = "http://far.test/x"
        with Scripted(serve) as server:
            proxy = f"http://127.0.0.1:{server.port}"
            self.assertEqual(fetch("-x", proxy, url), (0, b"proxied", ""))
            self.assertEqual(fetch("-x", proxy.removeprefix("http://"), url), (0, b"proxied", ""))
            self.assertEqual(fetch(url, environment={"http_proxy": proxy}), (0, b"proxied", ""))
            self.assertEqual(asked, [f"GET {url} HTTP/1.1"] * 3)
            near = f"http://127.0.0.1:{server.port}/"
            for wrong in ({"no_proxy": "127.0.0.1"}, {}):
                flags = () if wrong else ("--noproxy", "127.0.0.1")
                self.assertEqual(fetch(*flags, near, environment={"http_proxy": "http://127.0.0.1:1", **wrong})[0], 0)
        code, _, said = fetch(url, environment={"http_proxy": "nonsense://x"})
        self.assertEqual((code, "http_proxy in the environment" in said), (2, True), said)

    def test_failures_have_the_exit_codes_of_curl(self):
        def answers(text):
            def serve(peer, _):
                read_head(peer)
                peer.sendall(text)
            return serve

        loop = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /\r\nConnection: close\r\n\r\n"
        for text, expected in ((b"", 52), (b"nonsense\r\n\r\n", 8),
                               (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab", 18),
                               (loop, 47)):
            with Scripted(answers(text)) as server:
                code, _, said = fetch(f"http://127.0.0.1:{server.port}/")
                self.assertEqual(code, expected, said)
        with Scripted(lambda peer, _: peer.recv(1) and peer.recv(100_000) and peer.recv(1)) as server:
            self.assertEqual(fetch("-m", "0.3", f"http://127.0.0.1:{server.port}/")[0], 28)
        self.assertEqual(fetch("http://127.0.0.1:1/")[0], 7)
        self.assertEqual(fetch("http://name.invalid/")[0], 6)
        with Serve(self.root) as server:
            url = f"http://127.0.0.1:{server.port}/a.txt"
            self.assertEqual(fetch("-o", "/no/such/directory/x", url)[0], 23)
            self.assertEqual(fetch("-o", "x", url, url)[0], 2)
            self.assertEqual(fetch("http//x")[0], 2)
            # the first failure counts, and the others are fetched nevertheless
            code, out, _ = fetch(f"http://127.0.0.1:{server.port}/nothing", "http://127.0.0.1:1/", url)
            self.assertEqual((code, out[-6:]), (22, b"hello\n"))

    def test_a_coding_that_is_not_understood_is_exit_code_61(self):
        packed = gzip.compress(b"hello")
        answer = b""

        def serve(peer, _):
            read_head(peer)
            peer.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n" + answer)

        with Scripted(serve) as server:
            url = f"http://127.0.0.1:{server.port}/"
            for codings, body, expected in (
                    (["gzip"], packed, b"hello"), (["gzip, identity"], packed, b"hello"), (["identity"], b"x", b"x"),
                    (["gzip, gzip"], gzip.compress(packed), None), (["gzip", "gzip"], gzip.compress(packed), None),
                    (["compress"], b"x", None), (["aws-chunked"], b"x", None), (["utf-8"], b"", b"")):
                answer = b"".join(f"Content-Encoding: {each}\r\n".encode() for each in codings)
                answer += f"Content-Length: {len(body)}\r\n\r\n".encode() + body
                self.assertEqual(fetch(url)[:2], (61, b"") if expected is None else (0, expected), codings)
                self.assertEqual(fetch("-H", "Accept-Encoding: x", url)[:2], (0, body), codings)
                fetch("-s", "-o", self.out / "x", url)
                self.assertEqual((self.out / "x").read_bytes(), body)

    def test_a_certificate_that_nobody_has_signed_is_refused_unless_it_is_trusted(self):
        with Serve(self.root, "--tls", "auto") as server:
            url = f"https://127.0.0.1:{server.port}/a.txt"
            code, out, said = fetch(url)
            self.assertEqual((code, out), (60, b""), said)
            self.assertEqual(fetch("-k", url)[:2], (0, b"hello\n"))

    def test_a_terminal_shows_bars(self):
        def serve(peer, _):
            read_head(peer)
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n" + bytes(1_000_000))
            self.seen.wait(20)
            peer.sendall(bytes(1_000_000))

        self.seen = threading.Event()
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
        with Scripted(serve) as server:
            process = subprocess.Popen([BIN / "gyre", "fetch", "-o", self.out / "x",
                                        f"http://127.0.0.1:{server.port}/x"], stderr=slave)
            os.close(slave)
            text = b""
            while b"[##########----------]  50 %  976.6 KiB of 1.9 MiB" not in text:
                text += os.read(master, 1000)
            self.seen.set()
            try:
                while True:
                    piece = os.read(master, 1000)
                    if not piece:
                        break
                    text += piece
            except OSError:  # the other side is closed
                pass
            self.assertEqual(process.wait(20), 0)
            os.close(master)
        self.assertIn(f"{self.out}/x: 1.9 MiB in".encode(), text)

    def test_json_results_pass_through_unchanged(self):
        (self.root / "v.json").write_text(json.dumps({"é": [1, 2]}))
        with Serve(self.root, "--compress") as server:
            code, out, _ = fetch(f"http://127.0.0.1:{server.port}/v.json")
            self.assertEqual((code, json.loads(out)), (0, {"é": [1, 2]}))


if __name__ == "__main__":
    unittest.main()
