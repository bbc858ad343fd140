"""The gyre command on a kernel of 2016, which tests/support/old_kernel.py simulates."""

import json
import os
import sys
import unittest
from pathlib import Path

from support import BIN, Proxy, Serve, ask, run, temporary_folder

LAUNCHER = Path(__file__).resolve().parent.parent / "support/old_kernel.py"
OLD = (sys.executable, LAUNCHER)


os.environ["GYRE_BACKEND"] = "auto"  # the kernel decides
for name in [each for each in os.environ if each.lower().endswith("_proxy")]:
    del os.environ[name]


def gyre(*arguments):
    done = run(*OLD, BIN / "gyre", *arguments)
    return done.returncode, done.stdout, done.stderr.decode()


@unittest.skipUnless(os.uname().machine == "x86_64", "the filter's numbers are those of x86-64")
class OldKernel(unittest.TestCase):
    def setUp(self):
        self.root, self.out = temporary_folder(self), temporary_folder(self)
        self.big = os.urandom(3_000_000)
        (self.root / "big").write_bytes(self.big)
        (self.root / "a.txt").write_text("hello\n")

    def serve(self, *arguments):
        return Serve(self.root, *arguments, before=OLD)

    def test_doctor_reports_epoll_and_a_call_that_does_not_exist(self):
        code, out, err = gyre("doctor")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out.decode(), r"backend: +epoll\nreason: +epoll: io_uring_setup failed with ENOSYS")

    def test_serve_sends_files_ranges_listings_and_metrics(self):
        with self.serve("--admin", "127.0.0.1:0") as server:
            self.assertEqual(ask(server.port, "/big")[2], self.big)
            status, _, body = ask(server.port, "/big", headers={"Range": "bytes=100-199"})
            self.assertEqual((status, body), (206, self.big[100:200]))
            self.assertIn(b"a.txt", ask(server.port, "/")[2])
            self.assertEqual(ask(server.admin, "/metrics")[0], 200)
            self.assertEqual(server.stop(), 0)

    def test_serve_stores_uploads(self):
        with self.serve("--upload", self.out) as server:
            self.assertEqual(ask(server.port, "/_upload/new", "PUT", body=self.big)[0], 201)
            self.assertEqual((self.out / "new").read_bytes(), self.big)

    def test_fetch_saves_files_and_knows_localhost(self):
        with self.serve() as server:
            url = f"http://127.0.0.1:{server.port}/big"
            self.assertEqual(gyre("fetch", "-s", "-o", self.out / "big", url), (0, b"", ""))
            self.assertEqual((self.out / "big").read_bytes(), self.big)
            self.assertEqual(gyre("fetch", f"http://localhost:{server.port}/a.txt"), (0, b"hello\n", ""))

    def test_load_counts_answers(self):
        with self.serve() as server:
            code, out, err = gyre("load", "--requests", "100", "--json", f"http://127.0.0.1:{server.port}/a.txt")
            self.assertEqual((code, err), (0, ""))
            self.assertEqual(json.loads(out)["responses"], 100)

    def test_proxy_passes_requests_and_their_bodies_on(self):
        with self.serve("--upload", self.out) as server, Proxy(server.port, before=OLD) as proxy:
            self.assertEqual(ask(proxy.port, "/big")[2], self.big)
            self.assertEqual(ask(proxy.port, "/_upload/new", "PUT", body=b"x" * 100_000)[0], 201)
            self.assertEqual((self.out / "new").read_bytes(), b"x" * 100_000)


if __name__ == "__main__":
    unittest.main()
