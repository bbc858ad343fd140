"""gyre serve over TLS, and clients that break the protocol. Needs tlslite-ng (PyPI)."""

import os
import socket
import sys
import tempfile

from certificates import Authority
from raw_http import WithTree, read_all
from support import Serve, skip_without

skip_without("openssl")
try:
    from tlslite.api import HandshakeSettings, TLSConnection
    from tlslite.errors import TLSAbruptCloseError, TLSRemoteAlert
except ImportError:
    own = os.environ.pop("GYRE_PEERS_PYTHON", None)  # the Python of a virtual environment
    if own:
        os.execv(own, [own, *sys.argv])
    print("skipped: tlslite-ng is not installed; GYRE_PEERS_PYTHON may name a Python that has it")
    sys.exit(77)
REQUEST = b"GET /a.txt HTTP/1.1\r\nHost: localhost\r\n\r\n"
HELLO = bytes.fromhex("16030100f8010000f40303")


def settings(**values):
    made = HandshakeSettings()
    made.minVersion = (3, 3)
    for name, value in values.items():
        setattr(made, name, value)
    return made


def only(minor):
    return settings(minVersion=(3, minor), maxVersion=(3, minor))


class Hostile(WithTree):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        chain, key = Authority(cls.folder.name).server("localhost")
        files = os.path.join(cls.folder.name, "files")
        os.mkdir(files)
        with open(os.path.join(files, "a.txt"), "w") as file:
            file.write("alpha\n")
        cls.server = Serve(files, "--tls-cert", chain, "--tls-key", key, "--handshake-timeout", 2).__enter__()

    @classmethod
    def tearDownClass(cls):
        code = cls.server.stop()
        cls.server.__exit__()
        cls.folder.cleanup()
        assert code == 0, code

    def tearDown(self):
        self.assertIn(b"alpha\n", self.answer(self.tls()))  # the next client is served

    def plain(self):
        peer = self.server.socket()
        self.addCleanup(peer.close)
        return peer

    def tls(self, with_settings=None, host="localhost", **options):
        peer = TLSConnection(self.plain())
        peer.handshakeClientCert(settings=with_settings or settings(), serverName=host, **options)
        peer.closeSocket = True
        return peer

    def answer(self, peer, request=REQUEST):
        peer.sendall(request)
        text = b""
        while b"alpha\n" not in text:
            piece = peer.recv(10_000)
            if not piece:
                break
            text += bytes(piece)
        return text

    def send(self, peer, *messages):
        for each in messages:
            for _ in peer._sendMsg(each, False):
                pass

    def expect_end(self, peer, *alerts):
        """The server ends the connection, with one of these alerts if any are named."""
        try:
            while peer.recv(10_000):
                pass
            ended = None
        except TLSRemoteAlert as alert:
            ended = alert.description
        except (TLSAbruptCloseError, ConnectionError):
            ended = None
        if alerts:
            self.assertIn(ended, alerts)

    def expect_refusal(self, *alerts, with_settings=None, **options):
        with self.assertRaises(TLSRemoteAlert) as refused:
            self.tls(with_settings, **options)
        self.assertIn(refused.exception.description, alerts)

    def raw(self, data, half_close=False):
        """Returns what the server says until it closes."""
        peer = self.plain()
        peer.sendall(data)
        if half_close:
            peer.shutdown(socket.SHUT_WR)
        return read_all(peer, or_reset=True)
