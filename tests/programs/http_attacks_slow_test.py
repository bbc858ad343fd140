"""gyre serve under attack by clients that are slow."""

import os
import re
import select
import shutil
import time
import unittest

from attack_support import LIMIT, Attack, connect, descriptors, get, wait_until
from support import run


class Slow(Attack):
    """The server disconnects each of 200 slow clients in time."""

    def attack(self, server, begin, go_on, receive_buffer=None, reads=0):
        """Each client sends `begin`, then `go_on` five times per second, and reads at most `reads` bytes at a time.
        Returns what each client has read. Each must be disconnected in time."""
        resets, ended, clients = select.poll(), [], {}
        for _ in range(200):
            peer = connect(server.port, receive_buffer)
            peer.sendall(begin)
            peer.setblocking(False)
            clients[peer] = (time.monotonic(), bytearray())
            resets.register(peer, 0)  # data received before a reset can still be read, slowly
        deadline = time.monotonic() + LIMIT + 20

        def end(peer):
            since, received = clients.pop(peer)
            resets.unregister(peer)
            ended.append((time.monotonic() - since, bytes(received)))
            peer.close()

        while clients and time.monotonic() < deadline:
            began = time.monotonic()
            gone = {number for number, _ in resets.poll(0)}
            for peer in list(clients):
                try:
                    if go_on:
                        peer.send(go_on)
                    if peer.fileno() in gone:
                        end(peer)
                    elif reads:
                        piece = peer.recv(reads)
                        clients[peer][1].extend(piece)
                        if not piece:
                            end(peer)
                except BlockingIOError:
                    pass
                except (ConnectionResetError, BrokenPipeError):
                    end(peer)
            time.sleep(max(0.0, 0.2 - (time.monotonic() - began)))  # the pace of the attack
        for peer in clients:
            peer.close()
        self.assertEqual(len(ended), 200, "some clients were still there")
        longest = max(seconds for seconds, _ in ended)
        print(f"\n  200 slow clients were there for at most {longest:.1f} s", flush=True)
        self.assertLess(longest, LIMIT + 15)
        return [received for _, received in ended]

    def test_clients_whose_heads_bodies_or_chunks_drip_get_408(self):
        upload = b"POST /_upload HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=b\r\n"
        part = b"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"slow\"\r\n\r\n"
        for what, begin, go_on in (("heads", b"GET / HTTP/1.1\r\nHost: a\r\nX: ", b"a"),
                                   ("bodies", upload + b"Content-Length: 1000000\r\n\r\n" + part, b"a"),
                                   ("chunks", upload + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n")):
            server = self.serve_impatiently()
            before = descriptors(server)
            with self.subTest(what), self.beside(server, f"slow {what}"):
                for received in self.attack(server, begin, go_on, reads=4096):
                    self.assertRegex(received or b"HTTP/1.1 408 ", rb"^HTTP/1\.1 4")  # a reset may have discarded it
            self.assertTrue(wait_until(lambda: descriptors(server) == before, 10))
            self.assertEqual(list(self.uploads.iterdir()), [])
            self.ends_quietly(server)

    def test_slow_readers(self):
        server = self.serve_impatiently()
        before = descriptors(server)
        with self.beside(server, "slow readers"):
            for received in self.attack(server, get("/large"), b"", receive_buffer=4096, reads=16):
                self.assertTrue(received.startswith(b"HTTP/1.1 200 "))
        self.assertTrue(wait_until(lambda: descriptors(server) == before, 10))
        self.ends_quietly(server)

    def test_readers_that_stop(self):
        server = self.serve_impatiently()
        before = descriptors(server)
        peers = [connect(server.port, 4096) for _ in range(200)]
        with self.beside(server, "readers that have stopped"):
            for each in peers:
                each.sendall(get("/large"))
            wait_until(lambda: descriptors(server) >= before + 400, 5)  # each with its file, in transfer
            self.assertTrue(wait_until(lambda: descriptors(server) <= before + 10, LIMIT + 15))
        for each in peers:
            each.close()
        self.assertTrue(wait_until(lambda: descriptors(server) == before, 10))
        self.ends_quietly(server)


@unittest.skipUnless(shutil.which("slowhttptest"), "slowhttptest not installed")
class SlowHttpTest(Attack):
    def attack(self, path, *arguments):
        server = self.serve_impatiently()
        with self.beside(server, f"slowhttptest {arguments[0]}"):
            done = run("slowhttptest", "-c", 200, "-r", 200, "-l", 8, "-p", 5, *arguments, "-u",
                       f"http://127.0.0.1:{server.port}{path}", timeout=40,
                       cwd=self.scratch, env={**os.environ, "TERM": "dumb"})
        text = re.sub(r"\x1b\[[0-9;]*m", "", (done.stdout + done.stderr).decode())
        found = re.findall(r"service available: *(\w+)", text)
        self.assertTrue(found, text)
        self.assertEqual(set(found), {"YES"}, text)
        self.ends_quietly(server)

    def test_slow_headers_bodies_ranges_and_readers_leave_the_service_available(self):
        for path, *arguments in (("/small.txt", "-H", "-i", 1, "-x", 24),
                                 ("/_upload", "-B", "-i", 1, "-s", 8192, "-x", 10),
                                 ("/large", "-R", "-a", 5, "-b", 3000),
                                 ("/large", "-X", "-w", 512, "-y", 1024, "-n", 1, "-z", 32, "-k", 3)):
            with self.subTest(arguments[0]):
                self.attack(path, *arguments)


if __name__ == "__main__":
    unittest.main()
