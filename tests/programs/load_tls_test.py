"""gyre load over TLS: which certificates it accepts, and how it explains a refusal."""

import os
import socket
import unittest

from certificates import Authority, copy_certificates
from scripted import Scripted
from support import BIN, Serve, run, skip_without, temporary_folder

skip_without("openssl")
REMEDY = "(--cacert FILE trusts other authorities, --insecure accepts any certificate)\n"


class LoadTls(unittest.TestCase):
    def setUp(self):
        self.folder = temporary_folder(self)
        self.root = self.folder / "root"
        self.root.mkdir()
        (self.root / "a.txt").write_text("hello\n")
        copy_certificates(Authority, self.folder)
        self.authority = Authority(self.folder)

    def serve(self, *hosts, **options):
        chain, key = self.authority.server("one", *hosts, **options)
        return Serve(self.root, "--tls-cert", chain, "--tls-key", key)

    def load(self, port, *arguments, host="127.0.0.1", count=20):
        """Returns the exit code and the two outputs."""
        done = run(BIN / "gyre", "load", f"https://{host}:{port}/a.txt", "-n", count, "-c", "4", *arguments)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def test_a_server_of_a_named_authority_is_accepted(self):
        with self.serve("127.0.0.1") as server:
            code, out, said = self.load(server.port, "--cacert", self.authority.certificate)
            self.assertEqual((code, said), (0, ""))
            self.assertIn("  status 200   20\n", out)

    def test_an_unknown_authority_is_explained_once_with_the_remedy(self):
        with self.serve("127.0.0.1") as server:
            code, out, said = self.load(server.port)
            self.assertEqual((code, out), (1, ""))
            self.assertEqual(said.count("\n"), 1, said)
            self.assertTrue(said.startswith(f"gyre load: https://127.0.0.1:{server.port}/a.txt: tls handshake "), said)
            self.assertIn(": the peer's certificate is not accepted: unable to get local issuer certificate ", said)
            self.assertTrue(said.endswith(REMEDY), said)

    def test_another_name_and_an_expired_certificate_are_told_apart(self):
        for hosts, days, reason in ((("other.test",), 30, "IP address mismatch"),
                                    (("127.0.0.1",), -1, "certificate has expired")):
            with self.serve(*hosts, days=days) as server:
                code, out, said = self.load(server.port, "--cacert", self.authority.certificate)
                self.assertEqual((code, out, said.count("\n")), (1, "", 1), said)
                self.assertIn(f": {reason} {REMEDY}", said)

    def test_an_insecure_load_accepts_any_certificate(self):
        with self.serve("other.test", days=-1) as server:
            for option in ("-k", "--insecure"):
                self.assertEqual(self.load(server.port, option)[0], 0)

    def test_a_file_without_certificates_is_named(self):
        empty = self.folder / "empty.pem"
        empty.write_text("nothing\n")
        code, out, said = self.load(1, "--cacert", empty)
        self.assertEqual((code, out), (1, ""))
        self.assertIn(f"--cacert {empty}: ", said)
        self.assertIn("unusable certificate, key or option", said)
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        for file, reason in ((pipe, "a pipe that nobody writes to"), ("/dev/zero", "File too large"),
                             ("/dev/null", "the file is empty")):
            code, _, said = self.load(1, "--cacert", file)
            self.assertEqual(code, 1)
            self.assertIn(f"--cacert {file}: ", said)
            self.assertIn(reason, said)
        code, _, said = self.load(1, "--cacert", self.folder / "absent.pem")
        self.assertEqual(code, 2)
        self.assertIn("absent.pem", said)

    def test_a_server_that_does_not_speak_tls_is_told_at_once(self):
        with Serve(self.root) as server:
            code, out, said = self.load(server.port)
            self.assertEqual((code, out), (1, ""))
            self.assertIn("handshake failed", said)
            self.assertNotIn("--insecure", said)

    def test_a_handshake_may_take_as_long_as_a_response(self):
        def stay_silent(peer, _):
            while peer.recv(1000):
                pass

        with Scripted(stay_silent) as server:
            with socket.create_connection(("127.0.0.1", server.port)):
                code, out, said = self.load(server.port, "--timeout", "0.3")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("timed out", said)


if __name__ == "__main__":
    unittest.main()
