"""Requests to gyre serve, uploads, and a tree to serve."""

import http.client
import json
import os
import tempfile
import unittest
from pathlib import Path


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


LARGE = os.urandom(8 << 20)


class WithTree(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name, "root")
        (self.root / "sub").mkdir(parents=True)
        (self.root / "a.txt").write_text("alpha\n" * 1000)
        (self.root / "sub/b.txt").write_text("beta\n")
        (self.root / "large").write_bytes(LARGE)
        self.uploads = Path(scratch.name, "uploads")
        self.uploads.mkdir()
