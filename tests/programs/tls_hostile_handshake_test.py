"""Clients that break TLS before or in the handshake: each is refused, and the next one served."""

import os
import socket
import unittest

from tls_hostile_support import HELLO, Hostile, only, REQUEST, settings  # skips the script without tlslite-ng

from tlslite.api import TLSConnection
from tlslite.constants import AlertDescription


class InTheHandshake(Hostile):
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


if __name__ == "__main__":
    unittest.main()
