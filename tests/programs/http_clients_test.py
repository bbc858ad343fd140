"""Common clients get the same results from gyre serve: files, ranges, uploads, and many requests on one connection."""

import hashlib
import http.client
import importlib.util
import json
import os
import re
import select
import shutil
import subprocess
import tempfile
import unittest
from collections import namedtuple
from pathlib import Path

from support import Serve, run

CLIENTS = Path(__file__).parent / "clients"
KEPT_OPEN = 100  # requests per connection
Answer = namedtuple("Answer", "status fields digest")  # the fields' names in lower case


def digest_of(content):
    return hashlib.sha256(content).hexdigest()


def needs(*programs):
    missing = [each for each in programs if not shutil.which(each)]
    return unittest.skipUnless(not missing, f"{', '.join(missing)} not installed")


def needs_module(name):
    return unittest.skipUnless(importlib.util.find_spec(name), f"the Python module {name} is not installed")


def fields_of(pairs):
    return {name.lower(): value for name, value in pairs}


def form_of(path, name):
    """Returns a multipart form with that file, and its Content-Type."""
    head = f'--gyre-test\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    body = head.encode() + Path(path).read_bytes() + b"\r\n--gyre-test--\r\n"
    return body, "multipart/form-data; boundary=gyre-test"


def heads_of(text):
    """Returns status and fields of each response head in the output of a program."""
    answers = []
    for line in text.splitlines():
        line = line.strip()
        if found := re.match(r"HTTP/1\.1 (\d{3})\b", line):
            answers.append((int(found.group(1)), {}))
        elif answers and ": " in line:
            name, value = line.split(": ", 1)
            answers[-1][1].setdefault(name.lower(), value)
    return [each for each in answers if each[0] >= 200]


class WithServer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = Path(scratch.name)
        cls.root, cls.uploads, cls.outputs = cls.scratch / "root", cls.scratch / "uploads", cls.scratch / "outputs"
        for each in (cls.root, cls.uploads, cls.outputs):
            each.mkdir()
        cls.text = b"alpha beta gamma\n" * 100
        (cls.root / "a.txt").write_bytes(cls.text)
        cls.large = os.urandom(32 << 20)
        (cls.root / "large").write_bytes(cls.large)
        cls.sent = cls.scratch / "sent.bin"
        cls.sent.write_bytes(os.urandom(5_000_001))
        cls.log = open(cls.scratch / "log", "w+")
        cls.addClassCleanup(cls.log.close)
        cls.server = cls.enterClassContext(Serve(cls.root, "--upload", cls.uploads, "--access-log", "json",
                                                 "--max-requests-per-connection", KEPT_OPEN, output=cls.log))

    def url(self, path=""):
        return f"http://127.0.0.1:{self.server.port}{path}"


class Checks:
    """Checks common to all clients. `ask` returns Answers to the same request made `count` times, on one connection if
    possible."""

    def setUp(self):
        self.start()
        self.addCleanup(self.end)

    def start(self):
        pass

    def end(self):
        pass

    def get(self, path, method="GET", fields=None):
        return self.ask(method, path, fields or {}, 1)[0]

    def test_a_file(self):
        answer = self.get("/a.txt")
        self.assertEqual((answer.status, answer.digest), (200, digest_of(self.text)))
        self.assertEqual(answer.fields["content-type"], "text/plain; charset=utf-8")

    def test_a_head(self):
        answer = self.get("/a.txt", "HEAD")
        self.assertEqual((answer.status, answer.digest), (200, digest_of(b"")))
        self.assertEqual(answer.fields["content-length"], str(len(self.text)))

    def test_a_range(self):
        answer = self.get("/large", fields={"Range": "bytes=1000000-1999999"})
        self.assertEqual((answer.status, answer.digest), (206, digest_of(self.large[1_000_000:2_000_000])))
        self.assertEqual(answer.fields["content-range"], f"bytes 1000000-1999999/{len(self.large)}")

    def test_a_file_that_is_known_already(self):
        tag = self.get("/a.txt").fields["etag"]
        answer = self.get("/a.txt", fields={"If-None-Match": tag})
        self.assertEqual((answer.status, answer.digest), (304, digest_of(b"")))

    def test_what_is_not_there(self):
        self.assertEqual(self.get("/nothing").status, 404)

    def test_a_large_file_byte_by_byte(self):
        answer = self.get("/large")
        self.assertEqual((answer.status, answer.digest), (200, digest_of(self.large)))

    def test_an_upload(self):
        name = f"{type(self).__name__}.bin"
        self.assertEqual(self.upload(self.sent, name).status, 201)
        self.assertTrue((self.uploads / name).read_bytes() == self.sent.read_bytes())

    def test_many_requests_on_one_connection(self):
        # The server announces a close only at the 100th request of a connection.
        answers = self.ask("GET", "/a.txt", {}, KEPT_OPEN + 20)
        self.assertEqual({(each.status, each.digest) for each in answers}, {(200, digest_of(self.text))})
        closed = [i + 1 for i, each in enumerate(answers) if each.fields.get("connection", "").lower() == "close"]
        self.assertEqual((len(answers), closed), (KEPT_OPEN + 20, [KEPT_OPEN]))


@needs("curl")
class Curl(Checks, WithServer):
    def run_curl(self, count, *arguments):
        with tempfile.TemporaryDirectory(dir=self.outputs) as there:
            done = run("curl", "-sS", "--max-time", 60, "-D", f"{there}/heads", "-o", f"{there}/body#1", *arguments)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            heads = heads_of(Path(there, "heads").read_text())
            self.assertEqual(len(heads), count)
            bodies = [Path(there, f"body{i + 1}") for i in range(count)]
            return [Answer(*head, digest_of(body.read_bytes() if body.exists() else b"")) for head, body in zip(heads, bodies)]

    def ask(self, method, path, fields, count):
        arguments = [part for name, value in fields.items() for part in ("-H", f"{name}: {value}")]
        if method == "HEAD":
            arguments.append("--head")
        answers = self.run_curl(count, *arguments, self.url(path) + f"?[1-{count}]")
        if method == "HEAD":  # curl writes the head to the body's place
            answers = [each._replace(digest=digest_of(b"")) for each in answers]
        return answers

    def upload(self, path, name):
        return self.run_curl(1, "-H", "Accept: application/json", "-F", f"file=@{path};filename={name}", self.url("/_upload?[1-1]"))[0]

    def test_a_download_is_resumed(self):
        part = self.outputs / "resumed"
        part.write_bytes(self.large[:10_000_000])
        self.assertEqual(run("curl", "-sS", "-C", "-", "-o", part, self.url("/large")).returncode, 0)
        self.assertTrue(part.read_bytes() == self.large)

    def test_an_upload_that_waits_for_100_continue(self):
        done = run("curl", "-sS", "-v", "-H", "Accept: application/json", "-H", "Expect: 100-continue", "--expect100-timeout", 30,
                   "-F", f"file=@{self.sent};filename=continued.bin", self.url("/_upload"))
        self.assertIn(b"< HTTP/1.1 100 Continue", done.stderr)
        self.assertIn(b"< HTTP/1.1 201 ", done.stderr)
        self.assertTrue((self.uploads / "continued.bin").read_bytes() == self.sent.read_bytes())

    def test_many_downloads_at_once(self):
        done = run("curl", "--no-progress-meter", "--parallel", "-o", self.outputs / "parallel#1", self.url("/large?[1-10]"))
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        for i in range(1, 11):
            self.assertTrue((self.outputs / f"parallel{i}").read_bytes() == self.large)
            (self.outputs / f"parallel{i}").unlink()


@needs("wget")
class Wget(Checks, WithServer):
    def run_wget(self, *arguments, addresses):
        body = self.outputs / "wget"
        body.unlink(missing_ok=True)
        done = run("wget", "--no-config", "-S", "-nv", "--tries=1", "--timeout=60", "--content-on-error", "-O", body, *arguments,
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
        heads, _ = self.run_wget(f"--post-file={form}", f"--header=Content-Type: {kind}", "--header=Accept: application/json",
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
        done = run("wget", "--no-config", "-q", "-r", "-np", "-nH", "-e", "robots=off", "--restrict-file-names=nocontrol", "-P",
                   self.outputs, self.url("/tree/"))
        self.assertEqual(done.returncode, 0, done.stderr)
        for name, content in contents.items():
            self.assertEqual((self.outputs / "tree" / name).read_bytes(), content)


class HttpClient(Checks, WithServer):
    def start(self):
        self.connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)

    def end(self):
        self.connection.close()

    def answer(self, method, path, fields, body=None):
        self.connection.request(method, path, body, fields)
        response = self.connection.getresponse()
        return Answer(response.status, fields_of(response.getheaders()), digest_of(response.read()))

    def ask(self, method, path, fields, count):
        return [self.answer(method, path, fields) for _ in range(count)]

    def upload(self, path, name):
        body, kind = form_of(path, name)
        return self.answer("POST", "/_upload", {"Content-Type": kind, "Accept": "application/json"}, body)


@needs_module("httpx")
class Httpx(Checks, WithServer):
    def start(self):
        import httpx
        self.client = httpx.Client(timeout=60, trust_env=False)

    def end(self):
        self.client.close()

    def answer(self, method, path, fields, **more):
        response = self.client.request(method, self.url(path), headers=fields, **more)
        return Answer(response.status_code, fields_of(response.headers.items()), digest_of(response.content))

    def ask(self, method, path, fields, count):
        return [self.answer(method, path, fields) for _ in range(count)]

    def upload(self, path, name):
        with open(path, "rb") as file:
            return self.answer("POST", "/_upload", {"Accept": "application/json"}, files={"file": (name, file)})


@needs_module("aiohttp")
class Aiohttp(Checks, WithServer):
    async def answers(self, method, path, fields, count, make_form=lambda: None):
        import aiohttp
        answers = []
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(60)) as session:
            for _ in range(count):
                async with session.request(method, self.url(path), headers=fields, data=make_form()) as response:
                    content = await response.read()
                    answers.append(Answer(response.status, fields_of(response.headers.items()), digest_of(content)))
        return answers

    def ask(self, method, path, fields, count):
        import asyncio
        return asyncio.run(self.answers(method, path, fields, count))

    def upload(self, path, name):
        import aiohttp
        import asyncio
        with open(path, "rb") as file:
            def make_form():
                form = aiohttp.FormData()
                form.add_field("file", file, filename=name)
                return form
            return asyncio.run(self.answers("POST", "/_upload", {"Accept": "application/json"}, 1, make_form))[0]


class InAnotherProcess(Checks):
    """A client that reads requests as lines of JSON and writes answers in the same way."""
    command = ()

    def start(self):
        self.client = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                       env={**os.environ, "NO_PROXY": "*"})

    def end(self):
        self.client.stdin.close()
        try:
            self.client.wait(20)
        except subprocess.TimeoutExpired:
            self.client.kill()
            self.client.wait()
        self.client.stdout.close()

    def answer(self, method, path, fields, **more):
        self.client.stdin.write(json.dumps({"method": method, "url": self.url(path), "fields": fields, **more}) + "\n")
        self.client.stdin.flush()
        self.assertTrue(select.select([self.client.stdout], [], [], 60)[0], "no answer in time")
        line = self.client.stdout.readline()
        self.assertTrue(line, "the client has ended")
        return Answer(**json.loads(line))

    def ask(self, method, path, fields, count):
        return [self.answer(method, path, fields) for _ in range(count)]

    def upload(self, path, name):
        return self.answer("POST", "/_upload", {"Accept": "application/json"}, upload=str(path), name=name)


@needs("node")
class NodeFetch(InAnotherProcess, WithServer):
    command = ("node", str(CLIENTS / "requests.mjs"))


@needs("go")
class GoNetHttp(InAnotherProcess, WithServer):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        program = cls.scratch / "requests"
        done = run("go", "build", "-o", program, CLIENTS / "requests.go", timeout=200,
                   env={"GOPATH": "/tmp/gyre-go", "GOCACHE": "/tmp/gyre-go/cache", **os.environ, "GOFLAGS": "-mod=mod",
                        "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"})
        if done.returncode != 0:
            raise AssertionError(done.stderr.decode())
        cls.command = (str(program),)


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
            done = run("wrk", "-t", 1, "-c", 50 if path == "/a.txt" else 5, "-d", "2s", "--timeout", "20s", self.url(path))
            text = done.stdout.decode()
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("Socket errors", text)
            self.assertNotIn("Non-2xx", text)
            self.assertGreater(int(re.search(r"(\d+) requests in", text).group(1)), 0, text)


if __name__ == "__main__":
    unittest.main()
