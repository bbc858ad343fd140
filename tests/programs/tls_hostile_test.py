"""gyre serve over TLS with clients that break the protocol, slowly or at once. Each must be refused, and the next client
served. Needs tlslite-ng (PyPI)."""

import os
import socket
import sys
import unittest

from certificates import Authority
from serve_support import WithTree, read_all
from support import BIN, Serve, run, skip_without

skip_without("openssl")
try:
    from tlslite.api import HandshakeSettings, TLSConnection
    from tlslite.constants import AlertDescription, AlertLevel, ContentType
    from tlslite.errors import TLSAbruptCloseError, TLSError, TLSLocalAlert, TLSRemoteAlert
    from tlslite.messages import Alert, ApplicationData, ChangeCipherSpec, ClientHello, KeyUpdate, Message
except ImportError:
    own = os.environ.pop("GYRE_TLSLITE_PYTHON", None)  # the Python of a virtual environment
    if own:
        os.execv(own, [own, *sys.argv])
    print("skipped: tlslite-ng is not installed; GYRE_TLSLITE_PYTHON may name a Python that has it")
    sys.exit(77)
if b"--tls-cert" not in run(BIN / "gyre", "serve", "--help").stdout:
    print("skipped: gyre was built without OpenSSL")
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
        import tempfile
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
        peer = socket.create_connection(("127.0.0.1", self.server.port), timeout=20)
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
        try:
            return read_all(peer)
        except ConnectionResetError:
            return b""

    # Before the handshake, and in it.

    def test_silence_and_half_a_hello_end_with_the_time_limit(self):
        for said in (b"", HELLO[:1], HELLO[:5], HELLO):
            self.assertEqual(self.raw(said), b"")

    def test_a_hello_that_comes_in_single_bytes_is_understood(self):
        class slow(socket.socket):
            def send(self, data, *flags):
                return super().send(data[:1], *flags)

            def sendall(self, data, *flags):
                for i in range(len(data)):
                    super().sendall(data[i:i + 1], *flags)

        peer = slow(socket.AF_INET)
        self.addCleanup(peer.close)
        peer.settimeout(20)
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer.connect(("127.0.0.1", self.server.port))
        connection = TLSConnection(peer)
        connection.handshakeClientCert(settings=settings(), serverName="localhost")
        self.assertIn(b"alpha\n", self.answer(connection))

    def test_a_client_that_leaves_in_the_hello_is_forgotten(self):
        self.raw(HELLO, half_close=True)

    def test_plain_http_is_not_answered(self):
        self.assertNotIn(b"HTTP", self.raw(REQUEST))

    def test_noise_is_refused(self):
        for i in range(20):
            self.raw(os.urandom(3000))

    def test_a_hello_of_ssl_2_is_refused(self):
        self.assertNotIn(b"\x02", self.raw(bytes.fromhex("802e0100020015000000100100800200800600400400800700c0")
                                           + os.urandom(24))[:1])

    def test_a_record_that_is_too_long_is_refused(self):
        self.assertIn(AlertDescription.record_overflow, self.raw(bytes.fromhex("160301ffff") + b"\x01" * 70_000)[-1:])

    def test_a_handshake_message_that_is_too_long_is_refused(self):
        self.assertEqual(self.raw(bytes.fromhex("1603010005") + bytes.fromhex("01ffffff03") + b"\x16\x03\x01\x40\x00"
                                  + b"\x00" * 0x4000)[:1], b"\x15")

    def test_a_record_of_an_unknown_kind_is_refused(self):
        self.assertEqual(self.raw(bytes.fromhex("630301000401020304"))[:1], b"\x15")

    def test_a_heartbeat_is_refused(self):
        self.assertNotIn(b"\x18", self.raw(bytes.fromhex("18030200030140 00".replace(" ", "")))[:1])

    def test_data_before_the_handshake_is_refused(self):
        self.assertEqual(self.raw(bytes.fromhex("1703030005") + b"GET /")[:1], b"\x15")

    def test_empty_handshake_records_without_end_are_refused(self):
        self.assertEqual(self.raw(bytes.fromhex("1603010000") * 2000)[:1], b"\x15")

    def test_old_versions_are_refused(self):
        for minor in (1, 2):
            self.expect_refusal(AlertDescription.protocol_version, with_settings=only(minor))

    def test_weak_ciphers_are_refused(self):
        for cipher in ("3des", "null", "rc4"):
            weak = settings(maxVersion=(3, 3), cipherNames=[cipher], macNames=["sha"])
            self.expect_refusal(AlertDescription.handshake_failure, with_settings=weak)

    def test_a_client_of_other_protocols_is_refused(self):
        self.expect_refusal(AlertDescription.no_application_protocol, alpn=[b"h2", b"spdy/3"])
        peer = self.tls(alpn=[b"h2", b"http/1.1"])
        self.assertEqual(peer.session.appProto, b"http/1.1")

    def test_a_host_that_the_server_does_not_have_gets_its_first_certificate(self):
        for host in ("other.example", "x" * 63 + "." + "y" * 63):
            self.assertIn(b"HTTP/1.1", self.answer(self.tls(host=host), b"GET / HTTP/1.0\r\n\r\n"))

    def test_compression_is_not_used(self):
        for minor in (3, 4):
            peer = self.tls(only(minor))
            self.assertIn(b"alpha\n", self.answer(peer))

    # After it.

    def test_renegotiation_is_refused(self):
        peer = self.tls(only(3))
        hello = ClientHello()
        hello.create((3, 3), bytearray(os.urandom(32)), bytearray(), [0xc02b, 0x00ff], extensions=[])
        self.send(peer, hello)
        self.expect_end(peer, AlertDescription.no_renegotiation, AlertDescription.handshake_failure, None)

    def test_a_second_hello_is_refused(self):
        peer = self.tls(only(4))
        hello = ClientHello()
        hello.create((3, 3), bytearray(os.urandom(32)), bytearray(), [0x1301], extensions=[])
        self.send(peer, hello)
        self.expect_end(peer, AlertDescription.unexpected_message)

    def test_empty_records_without_end_are_refused(self):
        for minor in (3, 4):
            peer = self.tls(only(minor))
            with self.assertRaises((TLSError, OSError)):
                for _ in range(100):
                    self.send(peer, ApplicationData().create(bytearray()))
                self.expect_end(peer)
                raise TLSError("ended")

    def test_some_updates_of_keys_are_followed(self):
        peer = self.tls(only(4))
        for _ in range(5):
            for _ in peer.send_keyupdate_request(1):
                pass
            self.assertIn(b"alpha\n", self.answer(peer))

    def test_updates_of_keys_without_end_are_refused(self):
        peer = self.tls(only(4))
        try:
            for _ in range(100):
                for _ in peer.send_keyupdate_request(1):
                    pass
        except (TLSError, OSError):
            pass  # closed in the middle
        self.expect_end(peer)
        self.assertTrue(peer.closed)

    def test_an_update_of_keys_that_is_none_is_refused(self):
        peer = self.tls(only(4))
        self.send(peer, KeyUpdate().create(7))
        self.expect_end(peer, AlertDescription.illegal_parameter, AlertDescription.decode_error)

    def test_a_changed_record_is_refused(self):
        for minor in (3, 4):
            peer = self.tls(only(minor))
            peer.sock.sendall(bytes.fromhex("1703030028") + os.urandom(40))
            self.expect_end(peer, AlertDescription.bad_record_mac)

    def test_an_unknown_kind_of_record_is_refused_later_too(self):
        peer = self.tls(only(3))
        self.send(peer, Message(ContentType.heartbeat, bytearray(b"\x01\x40\x00")))
        self.expect_end(peer, AlertDescription.unexpected_message)

    def test_warnings_without_end_are_refused(self):
        peer = self.tls(only(3))
        try:
            for _ in range(100):
                self.send(peer, Alert().create(AlertDescription.user_canceled, AlertLevel.warning))
        except OSError:
            pass
        self.expect_end(peer)

    def test_changes_of_ciphers_without_end_are_refused(self):
        peer = self.tls(only(4))
        with self.assertRaises((TLSError, OSError)):
            for _ in range(100):
                self.send(peer, ChangeCipherSpec().create())
            self.expect_end(peer)
            raise TLSError("ended")

    def test_a_request_that_is_cut_off_is_not_answered(self):
        for goodbye in (True, False):
            peer = self.tls()
            peer.sendall(REQUEST[:-2])
            if goodbye:
                self.send(peer, Alert().create(AlertDescription.close_notify, AlertLevel.warning))
            peer.sock.shutdown(socket.SHUT_WR)
            try:
                self.assertEqual(bytes(peer.recv(1000) or b""), b"")
            except (TLSAbruptCloseError, TLSRemoteAlert):
                pass

    def test_a_client_that_says_goodbye_before_its_answer_still_gets_it(self):
        peer = self.tls(only(4))
        peer.sendall(REQUEST)
        self.send(peer, Alert().create(AlertDescription.close_notify, AlertLevel.warning))
        text = b""
        try:
            while piece := peer.recv(10_000):
                text += bytes(piece)
        except (TLSAbruptCloseError, TLSLocalAlert):
            pass
        self.assertIn(b"alpha\n", text)

    def test_a_session_with_a_false_ticket_begins_anew(self):
        first = self.tls(only(4))
        self.assertIn(b"alpha\n", self.answer(first))
        session = first.session
        self.assertTrue(session.tickets)
        for ticket in session.tickets:
            ticket.ticket = bytearray(os.urandom(len(ticket.ticket)))
        peer = TLSConnection(self.plain())
        peer.handshakeClientCert(session=session, settings=only(4), serverName="localhost")
        self.assertFalse(peer.resumed)
        self.assertIn(b"alpha\n", self.answer(peer))


if __name__ == "__main__":
    unittest.main()
