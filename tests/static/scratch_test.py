"""The static gyre in a root directory that holds nothing else, as in a container image made from scratch."""

import contextlib
import os
import shutil
import socket
import struct
import threading
import unittest

from certificates import Authority
from support import BIN, Serve, ask, run, temporary_folder

ENTER = ["chroot"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "chroot"]
NAME_SERVER = "127.0.0.153"  # any address of the loopback network, so that it is in nobody's way


def answer_to(query):
    """The response to a DNS query: 127.0.0.1 for the A record of known.example, and no such name for others."""
    end = query.index(b"\0", 12)
    known = query[12:end] == b"\5known\7example"
    is_a = struct.unpack("!H", query[end + 1:end + 3]) == (1,)
    record = b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\x7f\0\0\1" if known and is_a else b""
    flags, count = (0x8180 if known else 0x8183), 1 if record else 0
    return query[:2] + struct.pack("!5H", flags, 1, count, 0, 0) + query[12:end + 5] + record


@contextlib.contextmanager
def name_server():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind((NAME_SERVER, 53))
        server.settimeout(0.05)
        ends = threading.Event()

        def serve():
            while not ends.is_set():
                with contextlib.suppress(TimeoutError):
                    query, client = server.recvfrom(512)
                    server.sendto(answer_to(query), client)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            ends.set()
            thread.join()


class Scratch(unittest.TestCase):
    def setUp(self):
        self.root = temporary_folder(self)
        shutil.copy(BIN / "gyre", self.root / "gyre")
        site = self.root / "site"
        site.mkdir()
        (site / "a.txt").write_text("hello\n")

    def put(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def gyre(self, *arguments, **environment):
        done = run(*ENTER, self.root, "/gyre", *arguments, env={"PATH": os.environ["PATH"], **environment})
        return done.returncode, done.stdout, done.stderr.decode()

    def serve(self, *arguments):
        server = Serve("/site", *arguments)
        server.command[:1] = [*ENTER, str(self.root), "/gyre"]
        return server

    def test_doctor_runs(self):
        code, out, err = self.gyre("doctor")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out.decode(), r"backend: +(io_uring|epoll)\n")

    def test_it_serves_and_fetches_by_the_name_localhost(self):
        with self.serve() as server:
            self.assertEqual(ask(server.port, "/a.txt")[2], b"hello\n")
            for name in ("127.0.0.1", "localhost", "site.localhost"):
                self.assertEqual(self.gyre("fetch", f"http://{name}:{server.port}/a.txt"), (0, b"hello\n", ""))

    def test_names_come_from_the_file_hosts(self):
        self.put("etc/hosts", "127.0.0.1 named.example\n")
        with self.serve("--allow-host", "*") as server:
            self.assertEqual(self.gyre("fetch", f"http://named.example:{server.port}/a.txt"), (0, b"hello\n", ""))

    def test_names_come_from_the_dns_without_plugins_of_the_system(self):
        self.put("etc/resolv.conf", f"nameserver {NAME_SERVER}\n")
        self.put("etc/nsswitch.conf", "hosts: mymachines resolve [!UNAVAIL=return] dns\n")
        try:
            self.enterContext(name_server())
        except PermissionError:
            self.skipTest("this user may not listen on port 53")
        with self.serve("--allow-host", "*") as server:
            self.assertEqual(self.gyre("fetch", f"http://known.example:{server.port}/a.txt"), (0, b"hello\n", ""))
        code, _, err = self.gyre("fetch", "http://unknown.example/")
        self.assertEqual((code, err), (6, "gyre fetch: http://unknown.example/: resolve unknown.example: "
                                          "Name or service not known\n"))

    def test_without_a_name_server_a_name_is_a_failure_that_may_pass(self):
        code, _, err = self.gyre("fetch", "--retry", "0", "http://unknown.example/")
        self.assertEqual((code, err), (6, "gyre fetch: http://unknown.example/: resolve unknown.example: "
                                          "Temporary failure in name resolution\n"))

    def test_authorities_come_from_the_environment_or_from_the_files_of_any_distribution(self):
        authority = Authority(temporary_folder(self))
        chain, key = authority.server("server", "localhost")
        self.put("server.pem", chain.read_text())
        self.put("server.key", key.read_text())
        trusted = authority.certificate.read_text()
        self.put("trusted.pem", trusted)
        with self.serve("--tls-cert", "/server.pem", "--tls-key", "/server.key") as server:
            url = f"https://localhost:{server.port}/a.txt"
            code, _, err = self.gyre("fetch", url)
            self.assertEqual(code, 60)
            self.assertIn("(this system has no certificates of authorities: SSL_CERT_FILE or --cacert FILE names some, "
                          "--insecure accepts any certificate)\n", err)
            self.assertEqual(self.gyre("fetch", url, SSL_CERT_FILE="/trusted.pem"), (0, b"hello\n", ""))
            self.assertEqual(self.gyre("fetch", "--cacert", "/trusted.pem", url), (0, b"hello\n", ""))
            self.put("etc/pki/tls/certs/ca-bundle.crt", trusted)
            self.assertEqual(self.gyre("fetch", url), (0, b"hello\n", ""))

    def test_it_asks_for_no_loader_and_no_library(self):
        headers = run("readelf", "--program-headers", "--dynamic", self.root / "gyre").stdout.decode()
        self.assertIn("DYNAMIC", headers)
        self.assertNotIn("INTERP", headers)
        self.assertNotIn("NEEDED", headers)


if __name__ == "__main__":
    unittest.main()
