"""Common programs get the same results from gyre serve: curl, wget, and those that only send load."""

import os
import re
import tempfile
import unittest
from pathlib import Path

from client_checks import Answer, Checks, WithServer, digest_of, form_of, heads_of, needs
from support import run


@needs("curl")
class Curl(Checks, WithServer):
    def run_curl(self, count, *arguments):
        with tempfile.TemporaryDirectory(dir=self.outputs) as there:
            done = run("curl", "-sS", "--max-time", 60, "-D", f"{there}/heads", "-o", f"{there}/body#1", *arguments)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            heads = heads_of(Path(there, "heads").read_text())
            self.assertEqual(len(heads), count)
            bodies = [Path(there, f"body{i + 1}") for i in range(count)]
            return [Answer(*head, digest_of(body.read_bytes() if body.exists() else b""))
                    for head, body in zip(heads, bodies)]

    def ask(self, method, path, fields, count):
        arguments = [part for name, value in fields.items() for part in ("-H", f"{name}: {value}")]
        if method == "HEAD":
            arguments.append("--head")
        answers = self.run_curl(count, *arguments, self.url(path) + f"?[1-{count}]")
        if method == "HEAD":  # curl writes the head to the body's place
            answers = [each._replace(digest=digest_of(b"")) for each in answers]
        return answers

    def upload(self, path, name):
        return self.run_curl(1, "-H", "Accept: application/json", "-F", f"file=@{path};filename={name}",
                             self.url("/_upload?[1-1]"))[0]

    def test_a_download_is_resumed(self):
        part = self.outputs / "resumed"
        part.write_bytes(self.large[:10_000_000])
        self.assertEqual(run("curl", "-sS", "-C", "-", "-o", part, self.url("/large")).returncode, 0)
        self.assertTrue(part.read_bytes() == self.large)

    def test_an_upload_that_waits_for_100_continue(self):
        done = run("curl", "-sS", "-v", "-H", "Accept: application/json", "-H", "Expect: 100-continue",
                   "--expect100-timeout", 30,
                   "-F", f"file=@{self.sent};filename=continued.bin", self.url("/_upload"))
        self.assertIn(b"< HTTP/1.1 100 Continue", done.stderr)
        self.assertIn(b"< HTTP/1.1 201 ", done.stderr)
        self.assertTrue((self.uploads / "continued.bin").read_bytes() == self.sent.read_bytes())

    def test_many_downloads_at_once(self):
        done = run("curl", "--no-progress-meter", "--parallel", "-o", self.outputs / "parallel#1",
                   self.url("/large?[1-10]"))
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        for i in range(1, 11):
            self.assertTrue((self.outputs / f"parallel{i}").read_bytes() == self.large)
            (self.outputs / f"parallel{i}").unlink()


@needs("wget")
class Wget(Checks, WithServer):
    def run_wget(self, *arguments, addresses):
        body = self.outputs / "wget"
        body.unlink(missing_ok=True)
        done = run("wget", "--no-config", "-S", "-nv", "--tries=1", "--timeout=60", "--content-on-error", "-O", body,
                   *arguments,
                   *addresses, env={**os.environ, "LC_ALL": "C"})
        return heads_of(done.stderr.decode()), body.read_bytes() if body.exists() else b""

    def ask(self, method, path, fields, count):
        arguments = [f"--header={name}: {value}" for name, value in fields.items()]
        if method == "HEAD":
            arguments.append("--method=HEAD")
        heads, body = self.run_wget(*arguments, addresses=[self.url(f"{path}?{i}") for i in range(count)])
        size = len(body) // count  # the bodies are written one after another
        pieces = [body[i * size:(i + 1) * size] for i in range(count)]
        return [Answer(*head, digest_of(piece)) for head, piece in zip(heads, pieces, strict=True)]

    def upload(self, path, name):
        body, kind = form_of(path, name)
        form = self.outputs / "form"
        form.write_bytes(body)
        heads, _ = self.run_wget(f"--post-file={form}", f"--header=Content-Type: {kind}",
                                 "--header=Accept: application/json",
                                 addresses=[self.url("/_upload")])
        return Answer(*heads[0], None)

    def test_a_range(self):  # wget requests only ranges up to the end
        heads, body = self.run_wget("--start-pos=30000000", addresses=[self.url("/large")])
        self.assertEqual((heads[0][0], digest_of(body)), (206, digest_of(self.large[30_000_000:])))

    def test_a_file_that_is_known_already(self):  # by its time; after a 304 it did not ask for, wget waits for a body
        for status in (200, 304):
            done = run("wget", "--no-config", "-S", "-nv", "-N", "-P", self.outputs, self.url("/a.txt"))
            self.assertEqual((done.returncode, heads_of(done.stderr.decode())[0][0]), (0, status))
        self.assertEqual((self.outputs / "a.txt").read_bytes(), self.text)

    def test_a_download_is_resumed(self):
        part = self.outputs / "resumed"
        part.write_bytes(self.large[:10_000_000])
        self.assertEqual(run("wget", "--no-config", "-q", "-c", "-O", part, self.url("/large")).returncode, 0)
        self.assertTrue(part.read_bytes() == self.large)

    def test_a_tree_is_copied_through_its_listings(self):
        tree = self.root / "tree"
        contents = {f"d{i % 3}/e e/ü{i}.txt": f"{i}".encode() for i in range(9)}
        for name, content in contents.items():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_bytes(content)
        done = run("wget", "--no-config", "-q", "-r", "-np", "-nH", "-e", "robots=off",
                   "--restrict-file-names=nocontrol", "-P", self.outputs, self.url("/tree/"))
        self.assertEqual(done.returncode, 0, done.stderr)
        for name, content in contents.items():
            self.assertEqual((self.outputs / "tree" / name).read_bytes(), content)


class Load(WithServer):
    """Programs that send requests as fast as they can. None of the requests fails."""

    @needs("ab")
    def test_ab(self):
        for options in (["-k"], []):
            for path, size in (("/a.txt", len(self.text)), ("/nothing", None)):
                done = run("ab", "-q", "-n", 3000, "-c", 50, "-s", 30, *options, self.url(path))
                text = done.stdout.decode()
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(text, r"Complete requests: +3000\n")
                self.assertRegex(text, r"Failed requests: +0\n")
                if size:
                    self.assertNotIn("Non-2xx", text)
                    self.assertRegex(text, rf"HTML transferred: +{3000 * size} bytes\n")
                else:
                    self.assertRegex(text, r"Non-2xx responses: +3000\n")

    @needs("wrk")
    def test_wrk(self):
        # wrk treats a response with "close" as the end of its connection, and opens another one.
        for path in ("/a.txt", "/large"):
            seconds, text = 0, ""
            while not re.search(r"[1-9]\d* requests in", text):  # on a busy machine the large file takes longer
                seconds = 2 * seconds or 1
                self.assertLess(seconds, 60, text)
                done = run("wrk", "-t", 1, "-c", 50 if path == "/a.txt" else 5, "-d", f"{seconds}s", "--timeout", "20s",
                           self.url(path))
                text = done.stdout.decode()
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertNotIn("Socket errors", text)
                self.assertNotIn("Non-2xx", text)


if __name__ == "__main__":
    unittest.main()
