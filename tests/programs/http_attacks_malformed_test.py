"""gyre serve and hello_server under attack by clients that lie about request boundaries, or cut requests."""

import random
import socket
import threading
import time
import unittest

from attack_support import Attack, connect, descriptors, get, read_all, read_response, responses_in, wait_until
from support import Example

REFUSALS = {400, 413, 414, 417, 421, 431, 501, 505}
NEXT = get("/next")
POST = b"POST /echo HTTP/1.1\r\nHost: a\r\n"
# Requests with at most one correct interpretation, each followed by bytes that would be a second request.
HOSTILE = {
    "both lengths": POST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "both lengths, the other way": POST + b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
    "two lengths": POST + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde",
    "the same length twice": POST + b"Content-Length: 4\r\nContent-Length: 4\r\n\r\nabcd",
    "a list of lengths": POST + b"Content-Length: 4, 4\r\n\r\nabcd",
    "a signed length": POST + b"Content-Length: +4\r\n\r\nabcd",
    "a negative length": POST + b"Content-Length: -4\r\n\r\nabcd",
    "a length in base 16": POST + b"Content-Length: 0x4\r\n\r\nabcd",
    "a length with an underscore": POST + b"Content-Length: 1_0\r\n\r\n0123456789",
    "an empty length": POST + b"Content-Length: \r\n\r\nabcd",
    "a length beyond 64 bits": POST + b"Content-Length: 18446744073709551620\r\n\r\nabcd",
    "a length with NUL": POST + b"Content-Length: 4\0\r\n\r\nabcd",
    "a space before the colon": POST + b"Content-Length : 4\r\n\r\nabcd",
    "a tab before the colon": POST + b"Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n",
    "a space in the name": POST + b"Content Length: 4\r\n\r\nabcd",
    "obs-fold": POST + b"X: a\r\n b\r\nContent-Length: 0\r\n\r\n",
    "obs-fold of the coding": POST + b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
    "a first line that is folded": b"GET / HTTP/1.1\r\n Host: a\r\n\r\n",
    "bare LF in the head": b"GET / HTTP/1.1\nHost: a\n\n",
    "one bare LF in the head": b"GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n",
    "bare LF at the end": b"GET / HTTP/1.1\r\nHost: a\r\n\n",
    "bare CR in a value": b"GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n",
    "bare CR as line end": b"GET / HTTP/1.1\rHost: a\r\r\n\r\n",
    "NUL in a value": b"GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n",
    "NUL in a name": b"GET / HTTP/1.1\r\nHost: a\r\nX\0: ab\r\n\r\n",
    "NUL in the target": b"GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n",
    "an unknown coding": POST + b"Transfer-Encoding: gzip\r\n\r\n",
    "identity": POST + b"Transfer-Encoding: identity\r\nContent-Length: 4\r\n\r\nabcd",
    "chunked twice": POST + b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    "chunked in two fields": POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunked is not last": POST + b"Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
    "chunked and identity": POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    "xchunked": POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "chunked behind VT": POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    "chunked in quotes": POST + b"Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n",
    "an empty coding": POST + b"Transfer-Encoding: \r\n\r\n0\r\n\r\n",
    "a coding in HTTP/1.0": (b"POST /echo HTTP/1.0\r\nConnection: keep-alive\r\n"
                             b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    "a chunk size in 0x": POST + b"Transfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n",
    "a signed chunk size": POST + b"Transfer-Encoding: chunked\r\n\r\n+1\r\na\r\n0\r\n\r\n",
    "a chunk size that overflows": POST + b"Transfer-Encoding: chunked\r\n\r\n10000000000000001\r\na\r\n0\r\n\r\n",
    "a space before a chunk size": POST + b"Transfer-Encoding: chunked\r\n\r\n 1\r\na\r\n0\r\n\r\n",
    "a chunk size and LF": POST + b"Transfer-Encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n",
    "a chunk that ends with LF": POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\n0\r\n\r\n",
    "a chunk that is longer than it says": POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n",
    "two bytes behind a chunk": POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\naXX0\r\n\r\n",
    "LF in an extension": POST + b"Transfer-Encoding: chunked\r\n\r\n1;a\nb\r\na\r\n0\r\n\r\n",
    "CR in an extension": POST + b"Transfer-Encoding: chunked\r\n\r\n1;a\rb\r\na\r\n0\r\n\r\n",
    "no chunk size": POST + b"Transfer-Encoding: chunked\r\n\r\n\r\na\r\n0\r\n\r\n",
    "LF at the end of the chunks": POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\n",
    "a trailer that is folded": POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n c\r\n\r\n",
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "two hosts": b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "a host with a slash": b"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
    "a host with a user": b"GET / HTTP/1.1\r\nHost: a@b\r\n\r\n",
    "a target without a slash": b"GET evil HTTP/1.1\r\nHost: a\r\n\r\n",
    "a fragment": b"GET /#a HTTP/1.1\r\nHost: a\r\n\r\n",
    "two spaces": b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
    "a tab between": b"GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n",
    "a space in the target": b"GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
    "HTTP/0.9": b"GET /\r\n\r\n",
    "HTTP/2.0": b"GET / HTTP/2.0\r\nHost: a\r\n\r\n",
    "HTTP/1.10": b"GET / HTTP/1.10\r\nHost: a\r\n\r\n",
    "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "an unknown expectation": POST + b"Content-Length: 4\r\nExpect: 200-maybe\r\n\r\nabcd",
    "no colon": b"GET / HTTP/1.1\r\nHost: a\r\nnonsense\r\n\r\n",
    "no name": b"GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n",
    "a long target": b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n",
    "a long field": b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 50_000 + b"\r\n\r\n",
    "many fields": b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: a\r\n" * 500 + b"\r\n",
    "a ClientHello": b"\x16\x03\x01\x00\xf8\x01\x00\x00\xf4\x03\x03" + bytes(range(200)) + b"\r\n\r\n",
    "CONNECT without a port": b"CONNECT a HTTP/1.1\r\nHost: a\r\n\r\n",
}


class Garbage(Attack):
    def answers_to(self, port, request, pieces):
        """Sends the request in pieces of that size. Returns the responses up to the end, for which the server must
        close the connection."""
        with connect(port) as peer:
            try:
                for at in range(0, len(request), pieces):
                    peer.sendall(request[at:at + pieces])
            except (ConnectionResetError, BrokenPipeError):
                pass  # the server has closed already
            return responses_in(read_all(peer))

    def refuses(self, port, requests, pieces):
        for name, request in requests.items():
            with self.subTest(name, pieces=pieces):
                answers = self.answers_to(port, request + NEXT, pieces)
                self.assertEqual(len(answers), 1, answers)
                self.assertIn(answers[0][0], REFUSALS)
                self.assertEqual(answers[0][1].get("connection"), "close")

    def test_hello_server_refuses_what_has_no_single_meaning_and_reads_nothing_behind_it(self):
        with Example("hello_server") as server:
            self.refuses(server.port, HOSTILE, 1 << 20)
            self.refuses(server.port, {k: v for k, v in HOSTILE.items() if len(v) < 1000}, 1)
            self.ends_quietly(server)

    def test_requests_before_a_bad_one_are_answered_and_none_behind_it(self):
        with Example("hello_server") as server:
            for name, request in HOSTILE.items():
                with self.subTest(name):
                    answers = self.answers_to(server.port, get("/") * 3 + request + NEXT, 1 << 20)
                    self.assertEqual([each[0] for each in answers[:3]], [200] * 3)
                    self.assertEqual(len(answers), 4, answers)
                    self.assertIn(answers[3][0], REFUSALS)
            self.ends_quietly(server)

    def test_gyre_serve_refuses_them_too(self):
        server = self.serve()
        before = descriptors(server)
        # A bad chunked body that no handler reads is noticed while it is skipped. The response is then the one to its
        # head.
        self.refuses(server.port, {k: v for k, v in HOSTILE.items() if b"chunked\r\n\r\n" not in v}, 1 << 20)
        bodies = {k: v.replace(b"POST /echo", b"GET /small.txt") for k, v in HOSTILE.items() if b"chunked\r\n\r\n" in v}
        for name, request in bodies.items():
            with self.subTest(name):
                answers = self.answers_to(server.port, request + NEXT, 1 << 20)
                self.assertEqual(len(answers), 1, answers)
                self.assertIn(answers[0][0], REFUSALS | {200})
                self.assertEqual(answers[0][1].get("connection"), "close")
        self.assertTrue(wait_until(lambda: descriptors(server) == before, 10))
        self.ends_quietly(server)

    def test_noise_is_refused(self):
        draw = random.Random(11)
        with Example("hello_server") as server:
            for i in range(300):
                noise = bytes(draw.choices(b"\0\t\n\r \x7f\xff:/;,?GETPOS0123abc", k=draw.randrange(1, 80)))
                noise += b"\nx\r\n\r\n"
                answers = self.answers_to(server.port, noise.lstrip(b"\r\n") + NEXT, 1 << 20)
                self.assertEqual([each[0] in REFUSALS for each in answers], [True], noise)
            for i in range(100):
                noise = draw.randbytes(40_000)
                answers = self.answers_to(server.port, noise, 1 << 20)
                self.assertEqual([each[0] in REFUSALS for each in answers], [True], i)
            self.ends_quietly(server)

    def test_a_body_that_looks_like_a_request_is_a_body(self):
        with Example("hello_server") as server:
            sized = POST + f"Content-Length: {len(NEXT)}\r\n\r\n".encode() + NEXT
            chunked = POST + f"Transfer-Encoding: chunked\r\n\r\n{len(NEXT):x}\r\n".encode() + NEXT + b"\r\n0\r\n\r\n"
            unwanted = get("/", f"Content-Length: {len(NEXT)}\r\n") + NEXT
            last = get("/", "Connection: close\r\n")
            for pieces in (1, 1 << 20):
                answers = self.answers_to(server.port, sized + chunked + unwanted + last, pieces)
                self.assertEqual([(each[0], each[2]) for each in answers],
                                 [(200, NEXT), (200, NEXT), (200, b"Hello, World!"), (200, b"Hello, World!")])
            self.ends_quietly(server)


class Order(Attack):
    def exchange(self, port, requests, count):
        """Sends everything in one call. Returns the responses in order."""
        with connect(port) as peer, peer.makefile("rb") as reader:
            sender = threading.Thread(target=peer.sendall, args=(requests,))
            sender.start()
            answers = [read_response(reader) for _ in range(count)]
            sender.join(30)
            return answers

    def test_a_thousand_files_asked_for_at_once_come_in_order(self):
        for i in range(1000):
            (self.root / f"n{i}").write_text(f"{i}\n" * (1 + i % 50))
        server = self.serve()
        answers = self.exchange(server.port, b"".join(get(f"/n{i}") for i in range(1000)), 1000)
        self.assertEqual([each[2] for each in answers], [(f"{i}\n" * (1 + i % 50)).encode() for i in range(1000)])
        self.ends_quietly(server)

    def test_a_thousand_mixed_requests_at_once_are_answered_in_order(self):
        with Example("hello_server") as server:
            requests, wanted = [], []
            for i in range(1000):
                body = f"body {i} ".encode() * (1 + i % 30)
                kind = i % 4
                if kind == 0:
                    requests.append(get("/"))
                    wanted.append((200, b"Hello, World!"))
                elif kind == 1:
                    requests.append(POST + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
                    wanted.append((200, body))
                elif kind == 2:
                    half = len(body) // 2
                    requests.append(POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"%x\r\n" % half + body[:half] +
                                    b"\r\n%x;x=y\r\n" % (len(body) - half) + body[half:] + b"\r\n0\r\nT: x\r\n\r\n")
                    wanted.append((200, body))
                else:
                    requests.append(get(f"/nothing{i}"))
                    wanted.append((404, None))
            answers = self.exchange(server.port, b"".join(requests), 1000)
            self.assertEqual([each[0] for each in answers], [each[0] for each in wanted])
            for answer, (_, body) in zip(answers, wanted):
                if body is not None:
                    self.assertEqual(answer[2], body)
            self.ends_quietly(server)


class Cut(Attack):
    REQUESTS = (get("/", "X-One: 1\r\n"), POST + b"Content-Length: 10\r\n\r\n0123456789",
                POST + b"Transfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n5;a=b\r\n56789\r\n0\r\nT: u\r\n\r\n")

    def test_a_request_that_ends_too_early_at_any_byte_is_not_answered_with_success(self):
        with Example("hello_server") as server:
            before = descriptors(server)
            for request in self.REQUESTS:
                for at in range(len(request)):
                    with connect(server.port) as peer:
                        peer.sendall(request[:at])
                        peer.shutdown(socket.SHUT_WR)
                        answers = responses_in(read_all(peer))
                    self.assertTrue(not answers or (len(answers) == 1 and answers[0][0] in REFUSALS),
                                    (request[:at], answers))
            self.assertTrue(wait_until(lambda: descriptors(server) == before, 10))
            self.ends_quietly(server)

    def test_a_request_in_two_pieces_cut_at_any_byte_is_the_same(self):
        with Example("hello_server") as server:
            for request in self.REQUESTS:
                with connect(server.port) as peer, peer.makefile("rb") as reader:
                    for at in range(1, len(request)):
                        peer.sendall(request[:at])
                        time.sleep(0.001)  # so that most pieces arrive separately; the result is the same either way
                        peer.sendall(request[at:])
                        status, _, body = read_response(reader)
                        self.assertEqual((status, body),
                                         (200, b"Hello, World!" if request[:1] == b"G" else b"0123456789"))
            self.ends_quietly(server)

    def test_an_upload_cut_at_any_byte_leaves_nothing_of_a_file(self):
        server = self.serve()
        body = b"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"cut\"\r\n\r\ncontent\r\n--b--"
        request = (b"POST /_upload HTTP/1.1\r\nHost: a\r\nAccept: application/json\r\n"
                   b"Content-Type: multipart/form-data; boundary=b\r\n" +
                   f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        before = descriptors(server)
        for at in range(len(request)):
            with connect(server.port) as peer:
                peer.sendall(request[:at])
                peer.shutdown(socket.SHUT_WR)
                answers = responses_in(read_all(peer))
            self.assertTrue(not answers or (len(answers) == 1 and answers[0][0] in REFUSALS), (request[:at], answers))
            if not request[:at].endswith((b"\r\n--b", b"\r\n--b-")):
                self.assertEqual(list(self.uploads.iterdir()), [], request[:at])
        self.assertTrue(wait_until(lambda: descriptors(server) == before, 10))
        # After the delimiter the file is complete, although the form is not. It is kept if that is noticed before the
        # end.
        for each in self.uploads.iterdir():
            self.assertEqual(each.read_bytes(), b"content")
        self.ends_quietly(server)


if __name__ == "__main__":
    unittest.main()
