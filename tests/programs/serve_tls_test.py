"""gyre serve over TLS: certificates and their renewal, versions, redirects, and what an operator does wrong."""

import hashlib
import http.client
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
import unittest

from certificates import Authority, copy_certificates
from raw_http import WithTree
from support import BIN, Serve, ask, run, skip_without

skip_without("openssl", "curl")


def trusting(authority, **settings):
    context = ssl.create_default_context(cafile=authority.certificate)
    for name, value in settings.items():
        setattr(context, name, value)
    return context


def get(port, context, host="localhost", path="/a.txt"):
    """Returns the status, the body, and the SHA-256 of the server's certificate."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as plain:
        with context.wrap_socket(plain, server_hostname=host) as peer:
            digest = hashlib.sha256(peer.getpeercert(binary_form=True)).hexdigest()
            peer.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
            response = http.client.HTTPResponse(peer)
            response.begin()
            return response.status, response.read(), digest


def make_certificates(folder):
    Authority(folder).server("one", "localhost", "127.0.0.1")


class OverTls(WithTree):
    def setUp(self):
        super().setUp()
        copy_certificates(make_certificates, self.root.parent)
        self.authority = Authority(self.root.parent)
        self.chain, self.key = self.root.parent / "one.chain", self.root.parent / "one.key"
        self.pair = ("--tls-cert", self.chain, "--tls-key", self.key)

    def test_a_certificate_that_is_made_at_the_start_has_the_printed_fingerprint(self):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with Serve(self.root, "--tls", "auto", "--admin", "127.0.0.1:0") as server:
            text = "".join(server.lines)
            status, body, digest = get(server.port, context)
            self.assertEqual((status, body), (200, b"alpha\n" * 1000))
            printed = re.search(r"SHA-256 ([0-9A-F:]+)\n", text)[1]
            self.assertEqual(printed.replace(":", "").lower(), digest)
            self.assertIn(f"https://127.0.0.1:{server.port}/", text)
            status, _, metrics = ask(server.admin, "/metrics")  # in plain text
            self.assertEqual(status, 200)

    def test_a_client_gets_the_certificate_for_the_host_that_it_asks_for(self):
        chain, key = self.authority.server("two", "two.example", "*.wild.example")
        with Serve(self.root, *self.pair, "--tls-cert", chain, "--tls-key", key, "--allow-host", "*") as server:
            context = trusting(self.authority)
            for host in ("localhost", "two.example", "a.wild.example"):
                self.assertEqual(get(server.port, context, host)[0], 200)
            with self.assertRaises(ssl.SSLCertVerificationError):
                get(server.port, context, "other.example")

    def test_an_old_version_is_refused(self):
        old = trusting(self.authority, maximum_version=ssl.TLSVersion.TLSv1_2)
        with Serve(self.root, *self.pair) as server:
            self.assertEqual(get(server.port, old)[0], 200)
        with Serve(self.root, *self.pair, "--tls-min", "1.3") as server:
            with self.assertRaisesRegex(ssl.SSLError, "protocol version"):
                get(server.port, old)
            self.assertEqual(get(server.port, trusting(self.authority))[0], 200)

    def test_clients_of_http_are_sent_to_the_https_server(self):
        with Serve(self.root, *self.pair, "--redirect-http", "127.0.0.1:0") as server:
            port = int(re.search(r"redirect +http://127\.0\.0\.1:(\d+)/", "".join(server.lines))[1])
            status, fields, _ = ask(port, "/sub/b.txt?x=1", headers={"Host": f"localhost:{port}"})
            self.assertEqual((status, fields["location"]), (308, f"https://localhost:{server.port}/sub/b.txt?x=1"))
            done = run("curl", "-sSL", "--cacert", self.authority.certificate, f"http://localhost:{port}/sub/b.txt")
            self.assertEqual(done.stdout, b"beta\n")
            status, fields, _ = ask(port, "*", method="OPTIONS")  # concerns this server, and no page of another
            self.assertEqual((status, fields.get("location")), (204, None))
            self.assertEqual(server.stop(), 0)

    def renewed(self, name):
        chain, key = self.authority.server(name, "localhost")
        return hashlib.sha256(ssl.PEM_cert_to_DER_cert(chain.read_text())).hexdigest(), chain, key

    def until(self, server, digest):
        """Asks until the server has this certificate. Fails after 20 s."""
        end = time.monotonic() + 20
        while get(server.port, trusting(self.authority))[2] != digest:
            self.assertLess(time.monotonic(), end, "the certificate was not loaded")

    def test_new_files_are_loaded_while_clients_lose_nothing(self):
        failures, answered, over = [], [], threading.Event()

        def client(port):
            context = trusting(self.authority)
            kept = http.client.HTTPSConnection("localhost", port, context=context, timeout=20)
            while not over.is_set():
                try:
                    kept.request("GET", "/sub/b.txt")
                    answered.append((kept.getresponse().read(), get(port, context)[1]))
                except OSError as failure:
                    failures.append(repr(failure))
            kept.close()

        with Serve(self.root, *self.pair, "--threads", 2) as server:
            clients = [threading.Thread(target=client, args=(server.port,)) for _ in range(2)]
            for each in clients:
                each.start()
            for i in range(3):
                digest, chain, key = self.renewed(f"next{i}")
                os.replace(key, self.key)
                os.replace(chain, self.chain)
                if i == 1:
                    server.process.send_signal(signal.SIGHUP)
                self.until(server, digest)
            over.set()
            for each in clients:
                each.join()
            self.assertEqual(failures, [])
            self.assertEqual(set(answered), {(b"beta\n", b"alpha\n" * 1000)})
            self.assertEqual(server.stop(), 0)

    def test_a_link_to_a_folder_of_certificates_may_be_replaced(self):  # as Kubernetes does, and certbot per file
        folder = self.root.parent
        for name in ("one", "two"):
            (folder / f"version-{name}").mkdir()
            chain, key = self.authority.server(name, "localhost")
            os.replace(chain, folder / f"version-{name}" / "tls.crt")
            os.replace(key, folder / f"version-{name}" / "tls.key")
        (folder / "current").symlink_to("version-one")
        pair = ("--tls-cert", folder / "current/tls.crt", "--tls-key", folder / "current/tls.key")
        with Serve(self.root, *pair) as server:
            (folder / "next").symlink_to("version-two")
            os.replace(folder / "next", folder / "current")
            chain = (folder / "version-two" / "tls.crt").read_text()
            self.until(server, hashlib.sha256(ssl.PEM_cert_to_DER_cert(chain)).hexdigest())

    def test_a_server_with_nothing_to_do_sleeps(self):
        def switches():
            tasks = pathlib.Path(f"/proc/{server.process.pid}/task").iterdir()
            return sum(int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", (each / "status").read_text(), re.M)[1])
                       for each in tasks)

        with Serve(self.root, *self.pair) as server:
            get(server.port, trusting(self.authority))
            for _ in range(10):  # on a busy machine the end of the connection falls into the first look
                before = switches()
                time.sleep(1)
                if (woken := switches() - before) <= 1:
                    return
            self.fail(f"woken {woken} times in a second")

    def test_files_that_cannot_be_used_change_nothing(self):
        with Serve(self.root, *self.pair) as server:
            before = get(server.port, trusting(self.authority))[2]
            key = self.key.read_bytes()
            for wrong in (b"nothing", self.authority.key.read_bytes()):
                self.key.write_bytes(wrong)
                server.process.send_signal(signal.SIGHUP)
                self.assertIn("the certificates stay as they are: ", server.process.stderr.readline())
                self.assertEqual(get(server.port, trusting(self.authority))[2], before)
            self.key.write_bytes(key)
            server.process.send_signal(signal.SIGHUP)
            self.assertIn("certificates loaded again: SHA-256 ", server.process.stderr.readline())

    def test_an_ocsp_response_is_sent_to_clients_that_ask_for_it(self):
        response = self.root.parent / "response.der"
        self.authority.ocsp_response("one", response)
        with Serve(self.root, *self.pair, "--tls-ocsp", response) as server:
            for version in ("-tls1_2", "-tls1_3"):
                done = run("openssl", "s_client", "-connect", f"127.0.0.1:{server.port}", "-status", version,
                           "-CAfile", self.authority.certificate, "-servername", "localhost", input=b"")
                self.assertIn(b"Cert Status: good", done.stdout)

    def test_the_keys_of_connections_are_logged_only_with_a_warning(self):
        log = self.root.parent / "keys"
        with Serve(self.root, *self.pair, environment={"SSLKEYLOGFILE": str(log)}) as server:
            self.assertIn(f"TLS keys are written to {log} (SSLKEYLOGFILE)", "".join(server.lines))
            get(server.port, trusting(self.authority))
            self.assertIn("CLIENT_TRAFFIC_SECRET_0", log.read_text())
            self.assertEqual(log.stat().st_mode & 0o077, 0)

    @unittest.skipUnless(shutil.which("strace"), "needs strace")
    def test_a_log_of_keys_does_not_lead_to_encryption_in_the_kernel(self):
        (self.root / "large").write_bytes(bytes(3_000_000))
        calls = self.root.parent / "calls"
        environment = {"SSLKEYLOGFILE": str(self.root.parent / "keys"), "GYRE_KERNEL_TLS": "off"}
        with Serve(self.root, *self.pair, environment=environment) as server:
            command = ["strace", "-f", "-e", "trace=setsockopt", "-o", calls, "-p", str(server.process.pid)]
            with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as watching:
                if "attached" not in watching.stderr.readline():
                    self.skipTest("strace may not watch another process")
                self.assertEqual(get(server.port, trusting(self.authority), path="/large")[1], bytes(3_000_000))
                server.stop()
        self.assertNotIn("TCP_ULP", calls.read_text())

    def test_sessions_are_resumed_also_after_a_renewal(self):
        with Serve(self.root, *self.pair, "--threads", 2) as server:
            context = trusting(self.authority)
            saved = None
            for i in range(5):
                with server.socket() as plain:
                    with context.wrap_socket(plain, server_hostname="localhost", session=saved) as peer:
                        self.assertEqual(peer.session_reused, i > 0)
                        peer.sendall(b"GET /sub/b.txt HTTP/1.1\r\nHost: localhost\r\n\r\n")
                        peer.recv(10_000)
                        saved = peer.session
                server.process.send_signal(signal.SIGHUP)
                self.assertIn("certificates loaded again", server.process.stderr.readline())

    def test_wrong_settings_are_refused_with_a_reason(self):
        other = Authority(self.root.parent, "other")
        for code, flags, reason in (
                (2, ("--tls-cert", self.chain), "give a key for each certificate"),
                (2, (*self.pair, "--tls", "auto"), "not both"),
                (2, ("--redirect-http", "127.0.0.1:0"), "leads to an HTTPS server"),
                (2, ("--tls-min", "1.1", *self.pair), "--tls-min"),
                (2, ("--tls-cert", "/nowhere.pem", "--tls-key", self.key), "File does not exist"),
                (1, ("--tls-cert", self.chain, "--tls-key", other.key), "key values mismatch"),
                (1, ("--tls-cert", self.key, "--tls-key", self.key), f"--tls-cert {self.key} --tls-key"),
                (1, ("--tls-cert", __file__, "--tls-key", self.key), "expected PEM text")):
            done = run(BIN / "gyre", "serve", self.root, "--listen", "127.0.0.1:0", *flags, timeout=20)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(reason, done.stderr.decode())

    def test_a_wrong_word_in_the_environment_is_refused(self):
        for command in (("serve", self.root), ("proxy", "--to", "http://127.0.0.1:1")):
            done = run(BIN / "gyre", *command, "--listen", "127.0.0.1:0", *self.pair, timeout=20,
                       env={**os.environ, "GYRE_KERNEL_TLS": "maybe"})
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual(done.stderr, b"error: GYRE_KERNEL_TLS=maybe: expected auto, on or off\n")

    def test_thousands_of_stalled_handshakes_leave_the_others_alone(self):
        count = 5000
        hello = b"\x16\x03\x01\x00\xf8\x01\x00\x00\xf4\x03\x03"
        with Serve(self.root, *self.pair, "--handshake-timeout", 1000) as server:
            context = trusting(self.authority)
            stalled = []
            try:
                for i in range(count):
                    each = server.socket()
                    each.sendall(hello[:1 + i % len(hello)])
                    stalled.append(each)
                for _ in range(50):  # within the time-out of `get`, which is far less than that of a handshake
                    self.assertEqual(get(server.port, context)[0], 200)
                ended = sum(each.recv(100) == b"" for each in stalled[:100])
                self.assertEqual(ended, 100)  # the oldest are given up
            finally:
                for each in stalled:
                    each.close()


if __name__ == "__main__":
    import resource
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    unittest.main()
