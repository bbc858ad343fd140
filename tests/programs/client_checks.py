"""Checks common to all HTTP clients of gyre serve: files, ranges, uploads, and many requests on one connection."""

import hashlib
import importlib.util
import os
import re
import shutil
import tempfile
import unittest
from collections import namedtuple
from pathlib import Path

from support import Serve

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
    """Tests with a server that all classes of a script share."""

    @classmethod
    def setUpClass(cls):
        if not hasattr(WithServer, "server"):
            WithServer.start_server()

    @classmethod
    def start_server(cls):
        scratch = tempfile.TemporaryDirectory()
        unittest.addModuleCleanup(scratch.cleanup)
        cls.scratch = Path(scratch.name)
        cls.root, cls.uploads, cls.outputs = cls.scratch / "root", cls.scratch / "uploads", cls.scratch / "outputs"
        for each in (cls.root, cls.uploads, cls.outputs):
            each.mkdir()
        cls.text = b"alpha beta gamma\n" * 100
        (cls.root / "a.txt").write_bytes(cls.text)
        cls.large = os.urandom(32 << 20)
        (cls.root / "large").write_bytes(cls.large)
        for name in ("a.txt", "large"):  # the tag of a fresh file changes once
            os.utime(cls.root / name, (1_700_000_000, 1_700_000_000))
        cls.sent = cls.scratch / "sent.bin"
        cls.sent.write_bytes(os.urandom(5_000_001))
        cls.log = open(cls.scratch / "log", "w+")
        unittest.addModuleCleanup(cls.log.close)
        cls.server = unittest.enterModuleContext(Serve(cls.root, "--upload", cls.uploads, "--access-log", "json",
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
