"""hello_server: its two pages, on several threads and over TLS."""

import pathlib
import re
import tempfile
import unittest

from certificates import Authority
from support import BIN, Example, run, skip_without

skip_without("openssl", "curl")


class HelloServer(unittest.TestCase):
    def curl(self, *arguments):
        done = run("curl", "-sS", *arguments)
        self.assertEqual(done.stderr, b"")
        return done.stdout

    def test_it_answers_and_echoes_on_several_threads(self):
        with Example("hello_server", "--threads", 2) as server:
            url = f"http://127.0.0.1:{server.port}"
            self.assertEqual(self.curl(url + "/"), b"Hello, World!")
            self.assertEqual(self.curl(url + "/echo", "-d", "say it again"), b"say it again")
            self.assertEqual(server.stop(), 0)

    def test_it_speaks_tls_with_the_certificate_of_files(self):
        with tempfile.TemporaryDirectory() as folder:
            authority = Authority(pathlib.Path(folder))
            chain, key = authority.server("one", "localhost")
            arguments = ("--tls-cert", chain, "--tls-key", key, "--redirect-http", "127.0.0.1:0")
            with Example("hello_server", *arguments) as server:
                trusting = ("--cacert", authority.certificate)
                self.assertEqual(self.curl(*trusting, f"https://localhost:{server.port}/"), b"Hello, World!")
                line = next(line for line in server.process.stderr if line.startswith("redirect: "))
                port = re.fullmatch(r"redirect: http://127\.0\.0\.1:(\d+)/\n", line)[1]
                self.assertEqual(self.curl("-L", *trusting, f"http://localhost:{port}/"), b"Hello, World!")
                self.assertEqual(server.stop(), 0)

    def test_it_makes_a_certificate_for_development(self):
        with Example("hello_server", "--tls", "auto", "--tls-min", "1.3") as server:
            self.assertEqual(self.curl("-k", f"https://localhost:{server.port}/"), b"Hello, World!")

    def test_flags_that_do_not_fit_are_refused(self):
        done = run(BIN / "hello_server", "--redirect-http", "127.0.0.1:0")
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"leads to an HTTPS server", done.stderr)
        done = run(BIN / "hello_server", "--tls-cert", __file__, "--tls-key", __file__)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"--tls-cert", done.stderr)


if __name__ == "__main__":
    unittest.main()
