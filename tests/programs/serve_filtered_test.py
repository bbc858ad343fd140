"""gyre serve where a seccomp filter, as in an older container runtime, does not know openat2: it serves files, but no
links."""

import ctypes
import errno
import os
import struct
import sys
import tempfile
import unittest
import urllib.error
import urllib.request
from pathlib import Path

import support
from support import Serve

if os.uname().machine != "x86_64":
    print("skipped: the filter's numbers are those of x86-64")
    sys.exit(77)

OPENAT2 = 437


def deny(error):
    """For preexec_fn: a seccomp filter with which openat2 fails."""
    def load():
        filters = b"".join(struct.pack("HBBI", *each) for each in (
            (0x20, 0, 0, 0), (0x15, 0, 1, OPENAT2), (0x06, 0, 0, 0x00050000 | error), (0x06, 0, 0, 0x7FFF0000)))
        program = ctypes.create_string_buffer(filters)
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
        if libc.prctl(22, 2, struct.pack("HxxxxxxP", 4, ctypes.addressof(program))) != 0:  # PR_SET_SECCOMP
            os._exit(99)
    return load


class Filtered(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.outside = Path(scratch.name) / "outside.txt"
        self.outside.write_text("secret")
        self.root = Path(scratch.name) / "root"
        (self.root / "sub").mkdir(parents=True)
        (self.root / "a.txt").write_text("a file")
        (self.root / "sub" / "b.txt").write_text("another")
        (self.root / "sub" / "index.html").write_text("<p>index")
        (self.root / "link.txt").symlink_to("a.txt")
        (self.root / "out").symlink_to("..")

    def serve(self, error):
        before = support.subprocess.Popen

        def filtered(*arguments, **options):
            return before(*arguments, preexec_fn=deny(error), **options)

        support.subprocess.Popen = filtered
        try:
            server = Serve(self.root).__enter__()
        finally:
            support.subprocess.Popen = before
        self.addCleanup(server.__exit__)
        return server

    def get(self, server, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{server.port}{path}", timeout=30) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, b""

    def check(self, error):
        server = self.serve(error)
        self.assertEqual(self.get(server, "/a.txt"), (200, b"a file"))
        self.assertEqual(self.get(server, "/sub/b.txt"), (200, b"another"))
        self.assertEqual(self.get(server, "/sub/"), (200, b"<p>index"))
        self.assertEqual(self.get(server, "/missing.txt")[0], 404)
        self.assertEqual(self.get(server, "/missing/b.txt")[0], 404)
        self.assertEqual(self.get(server, "/a.txt/b")[0], 404)
        self.assertNotEqual(self.get(server, "/link.txt")[0], 200)
        self.assertNotEqual(self.get(server, "/out/outside.txt")[0], 200)
        self.assertNotIn(b"secret", self.get(server, "/sub/%2e%2e/%2e%2e/outside.txt")[1])

    def test_files_are_served_and_links_are_not_when_openat2_is_not_permitted(self):
        self.check(errno.EPERM)

    def test_files_are_served_and_links_are_not_when_openat2_is_unknown(self):
        self.check(errno.ENOSYS)


if __name__ == "__main__":
    unittest.main()
