"""gyre serve where a seccomp filter, as in an older container runtime, does not know openat2: it serves files, but no
links."""

import ctypes
import errno
import os
import struct
import sys
import unittest

from support import Serve, temporary_folder

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
        scratch = temporary_folder(self)
        self.outside = scratch / "outside.txt"
        self.outside.write_text("secret")
        self.root = scratch / "root"
        (self.root / "sub").mkdir(parents=True)
        (self.root / "a.txt").write_text("a file")
        (self.root / "sub" / "b.txt").write_text("another")
        (self.root / "sub" / "index.html").write_text("<p>index")
        (self.root / "link.txt").symlink_to("a.txt")
        (self.root / "out").symlink_to("..")

    def test_files_are_served_and_links_are_not_when_openat2_is_not_permitted_or_unknown(self):
        for error in (errno.EPERM, errno.ENOSYS):
            with self.subTest(errno.errorcode[error]):
                self.check(error)

    def check(self, error):
        server = self.enterContext(Serve(self.root, preexec_fn=deny(error)))
        self.assertEqual(server.get("/a.txt"), (200, b"a file"))
        self.assertEqual(server.get("/sub/b.txt"), (200, b"another"))
        self.assertEqual(server.get("/sub/"), (200, b"<p>index"))
        self.assertEqual(server.get("/missing.txt")[0], 404)
        self.assertEqual(server.get("/missing/b.txt")[0], 404)
        self.assertEqual(server.get("/a.txt/b")[0], 404)
        self.assertNotEqual(server.get("/link.txt")[0], 200)
        self.assertNotEqual(server.get("/out/outside.txt")[0], 200)
        self.assertNotIn(b"secret", server.get("/sub/%2e%2e/%2e%2e/outside.txt")[1])


if __name__ == "__main__":
    unittest.main()
