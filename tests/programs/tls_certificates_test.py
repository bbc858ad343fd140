"""Certificates that a client of gyre::tls must refuse, each with a message that names the reason."""

import socket
import ssl
import tempfile
import threading
import unittest
import warnings
from pathlib import Path

from certificates import Authority, copy_certificates, openssl
from support import BIN, run, skip_without

skip_without("openssl")
PEER = BIN / "tls_peer"


class Server:
    """A server of Python's, with this certificate, for one connection after the other."""

    def __init__(self, chain, key, prepare=lambda context: None):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        prepare(self.context)
        self.context.load_cert_chain(chain, key)

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()
        return self

    def serve(self):
        while True:
            peer = self.listener.accept()[0]
            peer.settimeout(20)
            try:
                with self.context.wrap_socket(peer, server_side=True) as secure:
                    line = secure.recv(1000)
                    secure.sendall(b"got " + line)
                    secure.unwrap()
            except OSError:
                pass
            finally:
                peer.close()
            if self.over:
                return

    over = False

    def __exit__(self, *_):
        self.over = True
        socket.create_connection(("127.0.0.1", self.port)).close()
        self.thread.join()
        self.listener.close()


def make_authorities(folder):
    Authority(folder, "middle", Authority(folder))


class Certificates(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        copy_certificates(make_authorities, self.folder)
        self.root_authority = Authority(self.folder)
        self.middle = Authority(self.folder, "middle", self.root_authority)

    def ask(self, chain, key, host="server.test", authorities=None, prepare=lambda context: None):
        with Server(chain, key, prepare) as server:
            done = run(PEER, f"127.0.0.1:{server.port}", host, authorities or self.root_authority.certificate)
        return done.returncode, done.stdout.decode() or done.stderr.decode().strip()

    def expect_refused(self, reason, *arguments, **options):
        self.assertEqual(self.ask(*arguments, **options), (1, "tls handshake server.test: the peer's certificate is "
                                                              f"not accepted: {reason}"))

    def test_a_certificate_of_a_known_authority_is_accepted(self):
        self.assertEqual(self.ask(*self.middle.server("server.test"))[0], 0)
        chain, key = self.middle.server("addresses", "127.0.0.1")
        self.assertEqual(self.ask(chain, key, "127.0.0.1")[0], 0)

    def test_expired_ones(self):
        self.expect_refused("certificate has expired", *self.middle.server("server.test", days=-1))
        old = Authority(self.folder, "old", self.root_authority, days=-1)
        self.expect_refused("certificate has expired", *old.server("server.test"))

    def test_other_hosts(self):
        self.expect_refused("hostname mismatch", *self.middle.server("other.test"))
        self.expect_refused("hostname mismatch", *self.middle.server("wild", "*.server.test"))
        self.expect_refused("hostname mismatch", *self.middle.server("server.test.evil"))
        chain, key = self.middle.server("addresses", "127.0.0.1")
        code, text = self.ask(chain, key, "127.0.0.2")
        self.assertEqual((code, text.rpartition(": ")[2]), (1, "IP address mismatch"))

    def test_a_name_that_is_only_the_subject(self):
        self.middle.sign("server.test", "extendedKeyUsage=serverAuth\nsubjectAltName=DNS:other.test\n")
        (self.folder / "chain").write_text((self.folder / "server.test.pem").read_text() + self.middle.chain)
        self.expect_refused("hostname mismatch", self.folder / "chain", self.folder / "server.test.key")

    def test_self_signed_ones(self):
        alone = Authority(self.folder, "alone")
        self.expect_refused("self-signed certificate", alone.certificate, alone.key)

    def test_unknown_authorities_and_missing_intermediates(self):
        stranger = Authority(self.folder, "stranger")
        chain, key = stranger.server("server.test")
        self.expect_refused("unable to get local issuer certificate", chain, key)
        _, key = self.middle.server("server.test")
        self.expect_refused("unable to get local issuer certificate", self.folder / "server.test.pem", key)

    def test_an_issuer_that_only_has_the_name_of_a_trusted_one(self):
        (self.folder / "elsewhere").mkdir()
        forger = Authority(self.folder / "elsewhere", self.root_authority.name)
        forger.sign("server.test", "subjectAltName=DNS:server.test,IP:127.0.0.1\nauthorityKeyIdentifier=none\n")
        chain, key = (self.folder / "elsewhere" / f"server.test.{end}" for end in ("pem", "key"))
        self.expect_refused("certificate signature failure: CN=server.test is not signed by the CN=root that is "
                            "trusted", chain, key)
        with Server(chain, key) as server:
            done = run(BIN / "gyre", "fetch", "-s", "--cacert", self.root_authority.certificate,
                       f"https://127.0.0.1:{server.port}/")
        self.assertEqual(done.returncode, 60, done.stderr)
        self.assertIn(b"CN=server.test is not signed by", done.stderr)

    def test_a_certificate_that_was_signed_by_one_for_servers(self):
        false = Authority(self.folder, "false", self.root_authority, false=True)
        self.expect_refused("invalid CA certificate", *false.server("server.test"))

    def test_a_certificate_for_clients_only(self):
        self.middle.sign("server.test", "extendedKeyUsage=clientAuth\nsubjectAltName=DNS:server.test\n")
        (self.folder / "chain").write_text((self.folder / "server.test.pem").read_text() + self.middle.chain)
        self.expect_refused("unsuitable certificate purpose", self.folder / "chain", self.folder / "server.test.key")

    def test_a_weak_key(self):
        openssl("req", "-newkey", "rsa:1024", "-nodes", "-keyout", self.folder / "weak.key", "-out",
                self.folder / "weak.csr", "-subj", "/CN=server.test")
        (self.folder / "weak.ext").write_text("subjectAltName=DNS:server.test\n")
        openssl("x509", "-req", "-in", self.folder / "weak.csr", "-CA", self.root_authority.certificate, "-CAkey",
                self.root_authority.key, "-days", 5, "-extfile", self.folder / "weak.ext", "-out",
                self.folder / "weak.pem")
        self.expect_refused("EE certificate key too weak", self.folder / "weak.pem", self.folder / "weak.key",
                            prepare=lambda context: context.set_ciphers("ALL:@SECLEVEL=0"))

    def revocations(self, authority, *names):
        """The list of what the authority has revoked."""
        index = self.folder / f"{authority.name}.index"
        text = ""
        for name in names:
            serial = openssl("x509", "-in", self.folder / f"{name}.pem", "-noout", "-serial").decode().strip()[7:]
            text += f"R\t400101000000Z\t200101000000Z\t{serial}\tunknown\t/CN={name}\n"
        index.write_text(text)
        (self.folder / f"{authority.name}.index.attr").write_text("")
        number = self.folder / "number"
        number.write_text("01\n")
        configuration = self.folder / "ca.cnf"
        configuration.write_text(f"[ca]\ndefault_ca=own\n[own]\ndatabase={index}\ncrlnumber={number}\n"
                                 "default_md=sha256\ndefault_crl_days=5\n")
        crl = self.folder / f"{authority.name}.crl"
        openssl("ca", "-gencrl", "-config", configuration, "-cert", authority.certificate, "-keyfile", authority.key,
                "-out", crl)
        return crl.read_text()

    def test_revoked_ones(self):
        chain, key = self.middle.server("server.test")
        trusted = self.folder / "trusted"
        root = self.root_authority.certificate.read_text()
        trusted.write_text(root + self.revocations(self.root_authority, "middle"))
        self.expect_refused("certificate revoked", chain, key, authorities=trusted)  # the intermediate one
        trusted.write_text(root + self.revocations(self.middle, "server.test"))
        self.expect_refused("certificate revoked", chain, key, authorities=trusted)
        trusted.write_text(root + self.revocations(self.root_authority) + self.revocations(self.middle))
        self.assertEqual(self.ask(chain, key, authorities=trusted)[0], 0)

    def test_a_server_that_offers_only_an_old_version(self):
        def old(context):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                context.options |= ssl.OP_NO_TLSv1_2 | ssl.OP_NO_TLSv1_3
            context.set_ciphers("ALL:@SECLEVEL=0")

        chain, key = self.middle.server("server.test")
        code, text = self.ask(chain, key, prepare=old)
        self.assertEqual(code, 1)
        self.assertIn("handshake failed: tlsv1 alert protocol version", text)


if __name__ == "__main__":
    unittest.main()
