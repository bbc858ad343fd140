"""gyre serve under attack through large directories, and through text for logs."""

import json
import os
import random
import re
import select
import tempfile
import threading
import time
import unittest
from pathlib import Path

from attack_support import Attack, connect, get, peak, processor_seconds, read_response, resident
from raw_http import reset
from support import Serve


class Listings(Attack):
    """Directories with 20,000 entries, in memory, so that the server is measured and not a disk."""

    ENTRIES = 20_000

    def setUp(self):
        super().setUp()
        scratch = tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name)

    def fill(self, name, entry):
        directory = self.root / name
        directory.mkdir()
        for i in range(self.ENTRIES):
            os.mknod(directory / entry.format(i))
        return directory

    def read_all_of(self, peers):
        """Reads the responses to many clients until each has its last chunk. Yields for each that is complete."""
        waiting, poll = {each.fileno(): [each, 0, b""] for each in peers}, select.poll()
        for number in waiting:
            poll.register(number, select.POLLIN)
        while waiting:
            ready = poll.poll(30_000)
            self.assertTrue(ready, "nothing comes any more")
            for number, _ in ready:
                one = waiting[number]
                piece = one[0].recv(1 << 20)
                one[1] += len(piece)
                one[2] = (one[2] + piece)[-64:]
                self.assertTrue(piece, one[2])
                if one[2].endswith((b"</html>\n", b"</html>\n\r\n0\r\n\r\n")):
                    poll.unregister(number)
                    del waiting[number]
                    yield one[1]

    def test_200_listings_delay_nobody_and_are_in_memory_once(self):
        self.fill("many", "entry-{:05}")
        for i in range(200):
            (self.root / f"file{i}").write_bytes(b"here")
        server = self.serve()
        before, spent = resident(server), processor_seconds(server)
        peers = [self.enterContext(connect(server.port)) for _ in range(200)]
        with self.assertNoDescriptorLeft(server, peers):
            for each in peers:
                each.sendall(get("/many/"))
            complete, seen_by_others, size = 0, [], 0
            done = threading.Event()

            def ask_for_what_nobody_has_asked_for():
                for i in range(200):
                    with connect(server.port) as peer, peer.makefile("rb") as reader:
                        peer.sendall(get(f"/file{i}"))
                        if read_response(reader)[2] == b"here":
                            seen_by_others.append(complete)
                    if done.is_set():
                        return

            other = threading.Thread(target=ask_for_what_nobody_has_asked_for)
            other.start()
            for length in self.read_all_of(peers):
                complete += 1
                size += length
            done.set()
            other.join(30)
        spent = processor_seconds(server) - spent
        print(f"\n  200 listings: {size >> 20} MB, {(peak(server) - before) >> 20} MB of memory, "
              f"{spent:.2f} s of processor time; {len(seen_by_others)} files opened meanwhile, "
              f"the first when {seen_by_others[0]} listings were complete", flush=True)
        self.assertLess(peak(server) - before, 32 << 20)
        self.assertLess(spent, 6)
        self.assertLess(seen_by_others[0], 100)
        self.assertGreater(len(seen_by_others), 10)
        self.ends_quietly(server)

    def test_names_that_grow_in_html_are_not_in_memory_as_a_whole(self):
        self.fill("ampersands", "&" * 240 + "{}")
        server = self.serve()
        before = resident(server)
        peers = [self.enterContext(connect(server.port)) for _ in range(4)]
        for each in peers:
            each.sendall(get("/ampersands/"))
        size = sum(self.read_all_of(peers))
        for each in peers:
            each.close()
        print(f"\n  4 listings of ampersands: {size >> 20} MB, {(peak(server) - before) >> 20} MB of memory",
              flush=True)
        self.assertGreater(size, 4 * 40 << 20)
        self.assertLess(peak(server) - before, 32 << 20)
        self.ends_quietly(server)

    def test_listings_that_nobody_reads_hold_a_bounded_memory(self):
        """Each client gets another state of the directory, and reads nothing of it."""
        directory = self.fill("many", "entry-{:05}" + "-" * 180)
        server = self.serve()
        before = resident(server)
        peers = [self.enterContext(connect(server.port, 4096)) for _ in range(60)]
        for i, each in enumerate(peers):
            (directory / f"entry-{i:05}{'-' * 180}").write_bytes(b"x")
            os.utime(directory, ns=(i, i))
            each.sendall(get("/many/"))
            each.recv(1)  # the directory has been read
        print(f"\n  60 listings that nobody reads hold {(peak(server) - before) >> 20} MB", flush=True)
        self.assertLess(peak(server) - before, 112 << 20)
        with self.beside(server, "listings that nobody reads"):
            time.sleep(0.5)  # time for the other clients
        for each in peers:
            reset(each)
        self.ends_quietly(server)

    def beside(self, server, what):
        (self.root / "small.txt").write_bytes(self.small)
        return super().beside(server, what)


class Text(Attack):
    """Text from clients reaches logs, and the terminals of their readers."""

    ACTS_ON_A_TERMINAL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")

    def test_no_client_writes_controls_into_a_json_log(self):
        draw = random.Random(7)
        codes = [chr(code) for code in (0x9, 0x80, 0x85, 0x9b, 0x61c, 0x200e, 0x2028, 0x202e, 0x2066,
                                        0x41, 0x22, 0x5c, 0x1f600)]
        with open(self.scratch / "log", "w") as log:
            server = self.enterContext(Serve(self.root, "--allow-host", "a", "--access-log", "json", output=log))
            with connect(server.port) as peer, peer.makefile("rb") as reader:
                for i in range(500):
                    agent = "".join(draw.choices(codes, k=20)).encode() if i % 2 else draw.randbytes(40)
                    agent = bytes(each for each in agent if each >= 0x20 and each != 0x7f or each == 9).strip()
                    peer.sendall(b"GET /small.txt HTTP/1.1\r\nHost: a\r\nUser-Agent: " + agent + b"\r\n\r\n")
                    self.assertEqual(read_response(reader)[0], 200)
            self.ends_quietly(server)
        text = (self.scratch / "log").read_bytes().decode()  # valid UTF-8, whatever arrived
        self.assertEqual(self.ACTS_ON_A_TERMINAL.findall(text), [])
        lines = text.split("\n")[:-1]
        self.assertEqual(len(lines), 500)
        for each in lines:
            self.assertEqual(json.loads(each)["status"], 200)


if __name__ == "__main__":
    unittest.main()
