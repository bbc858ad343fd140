"""TLS with the implementations of others, in both roles: openssl, curl, Python, Go and Node."""

import shutil
import ssl
import subprocess
import sys
import unittest
from pathlib import Path

from certificates import Authority, copy_certificates
from peers import built
from raw_http import WithTree
from support import BIN, Serve, free_port, run, skip_without

skip_without("openssl")
PEER = BIN / "tls_peer"
SOURCES = Path(__file__).resolve().parent / "tls"


def needs(name):
    return unittest.skipUnless(shutil.which(name), f"{name} is not installed")


def make_certificates(folder):
    Authority(folder).server("server", "localhost", "server.test")


class Peers(WithTree):
    def setUp(self):
        super().setUp()
        copy_certificates(make_certificates, self.root.parent)
        self.authority = Authority(self.root.parent)
        self.files = self.root.parent / "server.chain", self.root.parent / "server.key"

    def serve(self):
        return Serve(self.root, "--tls-cert", self.files[0], "--tls-key", self.files[1])

    # As the server.

    @needs("curl")
    def test_curl_as_the_client(self):
        with self.serve() as server:
            for version in (("--tlsv1.2", "--tls-max", "1.2"), ("--tlsv1.3",)):
                done = run("curl", "-sS", *version, "--cacert", self.authority.certificate,
                           *[f"https://localhost:{server.port}/{name}" for name in ("large", "sub/b.txt")])
                self.assertEqual(done.stdout, (self.root / "large").read_bytes() + b"beta\n")

    def test_openssl_as_the_client(self):
        with self.serve() as server:
            for version in ("-tls1_2", "-tls1_3"):
                saved = self.root.parent / f"session{version}"
                for again, word in ((("-sess_out", saved), b"New, "), (("-sess_in", saved), b"Reused, ")):
                    peer = subprocess.Popen(["openssl", "s_client", "-connect", f"127.0.0.1:{server.port}", version,
                                             "-ign_eof", "-CAfile", self.authority.certificate, "-servername",
                                             "server.test", "-verify_return_error", *again],
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                    text = peer.communicate(b"GET /sub/b.txt HTTP/1.0\r\n\r\n", timeout=20)[0]
                    self.assertIn(b"\r\n\r\nbeta\n", text)
                    self.assertIn(word, text)

    def test_python_as_the_client(self):
        with self.serve() as server:
            context = ssl.create_default_context(cafile=self.authority.certificate)
            with server.socket() as plain:
                with context.wrap_socket(plain, server_hostname="server.test",
                                         suppress_ragged_eofs=False) as peer:  # the end has to be in order
                    peer.sendall(b"GET /large HTTP/1.0\r\n\r\n")
                    text = b""
                    while piece := peer.recv(100_000):
                        text += piece
            self.assertEqual(text.partition(b"\r\n\r\n")[2], (self.root / "large").read_bytes())

    def other_as_the_client(self, *command, **options):
        with self.serve() as server:
            done = run(*command, server.port, self.authority.certificate, timeout=120, **options)
            self.assertEqual((done.stderr, done.stdout), (b"", b"8388608 bytes, resumed\n"))

    @needs("node")
    def test_node_as_the_client(self):
        self.other_as_the_client("node", SOURCES / "client.js")

    @needs("go")
    def test_go_as_the_client(self):
        self.other_as_the_client(built(SOURCES / "client.go"))

    # As the client.

    def ask(self, *command, resumed=True, **options):
        """Starts a server, which prints its port, and asks it twice."""
        server = subprocess.Popen([*map(str, command), *map(str, self.files)], stdout=subprocess.PIPE, **options)
        try:
            port = int(server.stdout.readline())
            done = run(PEER, f"127.0.0.1:{port}", "server.test", self.authority.certificate, "again")
            self.assertIn(b"GET / HTTP/1.0", done.stdout)
            self.assertRegex(done.stderr.decode(), r"anew, 1\.3\n" + ("resumed, 1\\.3\n" if resumed else ""))
        finally:
            server.kill()
            server.wait()
            server.stdout.close()

    def test_openssl_as_the_server(self):
        port = free_port()
        for version, word in (("-tls1_2", "1.2"), ("-tls1_3", "1.3")):
            server = subprocess.Popen(["openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-cert", self.files[0],
                                       "-key", self.files[1], "-www", version], stdout=subprocess.PIPE, text=True)
            try:
                while "ACCEPT" not in server.stdout.readline():
                    self.assertIsNone(server.poll())
                done = run(PEER, f"127.0.0.1:{port}", "server.test", self.authority.certificate, "again")
                self.assertEqual(done.stderr.decode(), f"anew, {word}\nresumed, {word}\n")
            finally:
                server.kill()
                server.wait()
                server.stdout.close()

    def test_python_as_the_server(self):
        self.ask(sys.executable, SOURCES / "server.py")

    @needs("node")
    def test_node_as_the_server(self):
        self.ask("node", SOURCES / "server.js")

    @needs("go")
    def test_go_as_the_server(self):
        self.ask(built(SOURCES / "server.go"))


if __name__ == "__main__":
    unittest.main()
