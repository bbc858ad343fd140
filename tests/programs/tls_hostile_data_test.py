"""Clients that break TLS after the handshake: each is refused, and the next one served."""

import os
import socket
import unittest

from tls_hostile_support import Hostile, REQUEST, only  # skips the script without tlslite-ng

from tlslite.api import TLSConnection
from tlslite.constants import AlertDescription, AlertLevel, ContentType
from tlslite.errors import TLSAbruptCloseError, TLSError, TLSLocalAlert, TLSRemoteAlert
from tlslite.messages import Alert, ApplicationData, ChangeCipherSpec, ClientHello, KeyUpdate, Message


class AfterTheHandshake(Hostile):
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
