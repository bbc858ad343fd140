"""Clients that send as fast as they can, or do not read, cost gyre serve a bounded amount."""

import re
import time
import unittest
from pathlib import Path

from attack_support import Attack, connect, descriptors, get, processor_seconds, read_response, resident
from raw_http import reset
from support import Serve


def waits(server):
    """Returns how often the server's threads have waited for anything, including another thread."""
    threads = Path(f"/proc/{server.process.pid}/task").iterdir()
    return sum(int(re.search(r"\nvoluntary_ctxt_switches:\s+(\d+)", (each / "status").read_text()).group(1))
               for each in threads)


class Pressure(Attack):
    """Clients that send as fast as they can, or do not read, cost a bounded amount."""

    def rests(self, server):
        """Waits until the server only waits for its clients."""
        spent, same, deadline = processor_seconds(server), 0, time.monotonic() + 120
        while same < 3:
            self.assertLess(time.monotonic(), deadline, "it works on for clients that take nothing")
            time.sleep(0.2)
            before, spent = spent, processor_seconds(server)
            same = same + 1 if spent == before else 0

    def held_for(self, server, count, ask, what, bystander=None):
        """Returns the resident bytes for each of `count` clients that send as much of `ask()` as fits and read nothing.
        Meanwhile `bystander` and a new client get answers."""
        peers = []
        with connect(server.port) as warm:
            warm.sendall(get("/small.txt"))
            self.assertTrue(warm.recv(4096))
        before = resident(server)
        try:
            for _ in range(count):
                peer = connect(server.port, receive_buffer=4096)
                peers.append(peer)
                peer.setblocking(False)
                try:
                    for piece in ask():
                        peer.send(piece)
                except BlockingIOError:
                    pass
            self.rests(server)
            held = (resident(server) - before) / count
            if bystander:
                with connect(server.port) as new:
                    for each in (bystander, new):
                        each.sendall(get("/small.txt"))
                        self.assertTrue(each.recv(4096).startswith(b"HTTP/1.1 200 "))
                self.assertGreaterEqual(descriptors(server), count)  # all of them are still connected
        finally:
            for each in peers:
                reset(each)
        print(f"\n  {what}: {held / 2**20:.2f} MiB for each client", flush=True)
        return held

    def test_readers_that_take_nothing_of_what_is_compressed(self):
        lines = "".join(f"line {i * 7919} of many that are alike\n" for i in range(300_000)).encode()
        with open(self.root / "book.txt", "wb") as book:
            for _ in range(20):
                book.write(lines)
        for coding in ("gzip", "br", "zstd"):
            server = self.serve("--compress", "--write-timeout", 120)
            with self.beside(server, f"readers that take nothing of {coding}"):
                held = self.held_for(server, 4, lambda: [get("/book.txt", f"Accept-Encoding: {coding}\r\n")], coding)
            self.assertLess(held, 6 << 20)  # the encoder, 64 KiB, and the encoder's immediate output
            self.ends_quietly(server)

    def test_pipelined_requests_whose_answers_nobody_takes(self):
        log = (self.scratch / "log").open("w")
        self.addCleanup(log.close)
        server = self.enterContext(Serve(self.root, "--allow-host", "a", "--access-log", "text", "--write-timeout", 120,
                                         output=log))
        for method in ("GET", "HEAD", "OPTIONS"):
            request = get("/small.txt").replace(b"GET", method.encode())
            held = self.held_for(server, 4, lambda: [request * 1000] * 20, f"pipelined {method}")
            self.assertLess(held, 1 << 20)
        self.ends_quietly(server)

    def test_what_clients_send_ahead_of_their_answers_keeps_no_buffer_from_others(self):
        server = self.serve("--write-timeout", 120)
        with connect(server.port) as old:
            old.sendall(get("/small.txt"))
            self.assertTrue(old.recv(4096))
            # The receive buffers of a loop are 4 MiB in total. Each of these clients has sent more than 64 KiB before
            # its next answer.
            ahead = get("/large") + get("/small.txt") * 3000
            held = self.held_for(server, 150, lambda: [ahead], "a download and 100 KB of requests behind it", old)
        self.assertLess(held, 256 << 10)
        self.ends_quietly(server)

    def test_an_upload_in_chunks_of_one_byte(self):
        server = self.serve("--max-upload", "100mb")
        count = 2_000_000
        part = b"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"slow\"\r\n\r\n"
        before, began = waits(server), processor_seconds(server)
        with connect(server.port) as peer:
            peer.sendall(b"POST /_upload HTTP/1.1\r\nHost: a\r\nAccept: application/json\r\n"
                         b"Transfer-Encoding: chunked\r\nContent-Type: multipart/form-data; boundary=b\r\n\r\n"
                         b"%x\r\n" % len(part) + part + b"\r\n")
            for _ in range(count // 20_000):
                peer.sendall(b"1\r\nx\r\n" * 20_000)
            peer.sendall(b"9\r\n\r\n--b--\r\n\r\n0\r\n\r\n")
            self.assertTrue(peer.recv(4096).startswith(b"HTTP/1.1 201 "))
        waited, spent = waits(server) - before, processor_seconds(server) - began
        print(f"\n  {count} chunks of a byte: {waited} waits, {1e6 * spent / count:.2f} us of processor time each",
              flush=True)
        self.assertEqual((self.uploads / "slow").stat().st_size, count)
        self.assertLess(waited, count // 100)  # fewer than one for each chunk
        self.ends_quietly(server)

    def test_uploads_of_one_name_beside_thousands(self):
        server = self.serve()
        for i in range(2, 9001):
            (self.uploads / f"a ({i})").touch()
        (self.uploads / "a").touch()

        def upload_all(names):
            began = processor_seconds(server)
            with connect(server.port) as peer, peer.makefile("rb") as reader:
                for name in names:
                    body = (f'--b\r\nContent-Disposition: form-data; name="f"; filename="{name}"\r\n\r\n'
                            'x\r\n--b--\r\n').encode()
                    peer.sendall(b"POST /_upload HTTP/1.1\r\nHost: a\r\nAccept: application/json\r\nContent-Length: "
                                 b"%d\r\nContent-Type: multipart/form-data; boundary=b\r\n\r\n" % len(body) + body)
                    self.assertEqual(read_response(reader)[0], 201)
            return processor_seconds(server) - began

        different = upload_all(f"{i}" for i in range(500))
        same = upload_all("a" for _ in range(500))
        print(f"\n  500 uploads: {different:.2f} s of processor time by names of their own, {same:.2f} s by one",
              flush=True)
        self.assertLess(same, 5 * different + 0.1)
        self.ends_quietly(server)


if __name__ == "__main__":
    unittest.main()
