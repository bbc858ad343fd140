"""gyre serve under attack by clients that are numerous, fast, or leave."""

import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import threading
import time
import unittest

from attack_support import (
    Attack, connect, descriptors, get, named_descriptors, processor_seconds, read_response, resident, wait_until)
from raw_http import reset


class Many(Attack):
    def test_ten_thousand_idle_connections(self):
        count, wanted = 10_000, 10_500
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard != resource.RLIM_INFINITY and hard < wanted:
            self.skipTest(f"no more than {hard} descriptors are allowed")
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        server = self.serve("--header-timeout", 200, "--idle-timeout", 200)
        warm = connect(server.port)
        warm.sendall(get("/small.txt"))
        self.assertIn(b" 200 ", warm.recv(4096))
        descriptors_before, memory_before = descriptors(server), resident(server)
        peers = []
        try:
            with self.beside(server, "10,000 idle connections"):
                for _ in range(count):
                    peers.append(connect(server.port))
                self.assertTrue(wait_until(lambda: descriptors(server) >= descriptors_before + count, 20))
                silent = resident(server)
                for each in peers:
                    each.sendall(get("/small.txt"))
                for each in peers:
                    self.assertTrue(each.recv(4096).startswith(b"HTTP/1.1 200 "))
                used = resident(server)
                wait_until(lambda: False, 1)  # they are idle, and others are answered
            print(f"\n  resident per connection: {(silent - memory_before) / count:.0f} bytes before a request, "
                  f"{(used - memory_before) / count:.0f} when idle behind one (all: {used / 2**20:.1f} MiB)",
                  flush=True)
        finally:
            for each in peers:
                reset(each)
        self.assertTrue(wait_until(lambda: descriptors(server) <= descriptors_before, 20))
        warm.sendall(get("/small.txt"))
        self.assertIn(b" 200 ", warm.recv(4096))
        warm.close()
        self.ends_quietly(server)

    # When the client accepts only the first piece of a sendfile(2), the call returns that piece's size but raises
    # SIGPIPE.
    def test_a_client_that_has_left_before_its_file_is_sent(self):
        server = self.serve()
        server.process.send_signal(signal.SIGSTOP)
        try:
            with connect(server.port) as peer:
                peer.sendall(get("/large"))
        finally:
            server.process.send_signal(signal.SIGCONT)
        with connect(server.port) as peer:
            peer.sendall(get("/small.txt"))
            self.assertTrue(peer.recv(4096).startswith(b"HTTP/1.1 200 "))
        self.ends_quietly(server)

    def test_clients_that_leave_in_the_middle(self):
        server = self.serve()
        upload = b"POST /_upload HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=b\r\n"
        form = upload + (b"Content-Length: 1000000\r\n\r\n--b\r\n"
                         b"Content-Disposition: form-data; name=\"file\"; filename=\"cut\"\r\n\r\n") + b"x" * 5000
        chunks = upload + b"Transfer-Encoding: chunked\r\n\r\n5\r\n--b"
        large = get("/large")
        beginnings = [(large, True), (large, False), (large * 3, True), (large[:20], False),
                      (form, False), (chunks, False), (b"", False),
                      (get("/small.txt") * 50 + large[:-1], True), (get("/small.txt") * 50, False)]
        before = descriptors(server)
        with self.beside(server, "500 clients that leave, again and again"):
            for _ in range(4):
                peers = []
                for i in range(500):
                    peer = self.enterContext(connect(server.port))
                    begin, waits = beginnings[i % len(beginnings)]
                    peer.sendall(begin)
                    peers.append((peer, waits, i))
                for peer, waits, i in peers:
                    if waits:
                        self.assertTrue(peer.recv(1000))
                    if i % 2:
                        reset(peer)
                    else:
                        peer.close()
            leaving = time.monotonic()
        self.assertTrue(wait_until(lambda: descriptors(server) == before, 15),
                        f"{before} descriptors before; now {named_descriptors(server)}")
        print(f"  all descriptors were given back {time.monotonic() - leaving:.2f} s later", flush=True)
        self.assertEqual(list(self.uploads.iterdir()), [])
        self.ends_quietly(server)

    def test_downloads_as_fast_as_can_be(self):
        os.truncate(self.root / "large", 2 << 30)  # mostly a hole, which takes no space on the disk
        server = self.serve("--write-timeout", 60)
        stopping, received = threading.Event(), []

        def download():
            buffer, count = bytearray(1 << 20), 0
            with connect(server.port) as peer:
                peer.sendall(get("/large"))
                while not stopping.is_set() and (size := peer.recv_into(buffer, len(buffer), socket.MSG_TRUNC)):
                    count += size
                reset(peer)
            received.append(count)

        clients = [threading.Thread(target=download) for _ in range(8)]
        with self.beside(server, "8 downloads"):
            for each in clients:
                each.start()
            stopping.wait(3)
            stopping.set()
            for each in clients:
                each.join(30)
        self.assertEqual(len(received), 8)
        self.assertGreater(min(received), 0)
        print(f"  the downloads got {min(received) >> 20} to {max(received) >> 20} MiB each", flush=True)

    # The sending of a file does not wait while the client accepts every piece at once.
    @unittest.skipUnless(shutil.which("strace"), "strace not installed")
    def test_a_client_that_keeps_up_does_not_have_the_loop_for_itself(self):
        size = 1 << 30
        os.truncate(self.root / "large", size)  # mostly a hole, which takes no space on the disk
        server = self.serve("--write-timeout", 60)
        # Each call takes one millisecond longer, so that the client always keeps up.
        tracer = subprocess.Popen(["strace", "-f", "-o", "/dev/null", "-e", "inject=sendfile:delay_exit=1000",
                                   "-p", str(server.process.pid)],
                                  stderr=subprocess.PIPE, text=True)
        if "attached" not in tracer.stderr.readline():
            tracer.communicate(timeout=10)
            self.skipTest("strace may not attach")
        begun, received = threading.Event(), [0]

        def download():
            buffer = bytearray(1 << 20)
            with connect(server.port) as peer:
                peer.sendall(get("/large", "Connection: close\r\n"))
                while count := peer.recv_into(buffer, len(buffer), socket.MSG_TRUNC):
                    received[0] += count
                    begun.set()

        client, gaps = threading.Thread(target=download), []
        try:
            with connect(server.port) as peer, peer.makefile("rb") as reader:
                client.start()
                self.assertTrue(begun.wait(20))
                while received[0] < size:
                    before = received[0]
                    peer.sendall(get("/small.txt"))
                    self.assertEqual(read_response(reader)[2], self.small)
                    gaps.append((received[0] - before) >> 20)
        finally:
            client.join(60)
            tracer.terminate()
            tracer.communicate(timeout=10)
        print(f"\n  {len(gaps)} answers beside a download of 1 GiB, at most {max(gaps)} MiB of it between two",
              flush=True)
        self.assertLess(max(gaps), 128)

    def test_responses_are_never_mixed(self):
        contents = []
        draw = random.Random(5)
        for i in range(50):
            contents.append((f"{i:04}-" * draw.choice([1, 50, 2000, 40_000])).encode())
            (self.root / f"file{i}").write_bytes(contents[-1])
        server = self.serve("--threads", 2)
        failures = []

        def client(i):
            try:
                with connect(server.port) as peer, peer.makefile("rb") as reader:
                    for n in range(60):
                        batch = 1 + n % 4
                        peer.sendall(get(f"/file{i}") * batch)
                        for _ in range(batch):
                            answer = read_response(reader)
                            if answer is None or answer[0] != 200 or answer[2] != contents[i]:
                                failures.append((i, n, answer and answer[0]))
                                return
            except Exception as error:
                failures.append((i, error))

        clients = [threading.Thread(target=client, args=(i,)) for i in range(50)]
        for each in clients:
            each.start()
        for each in clients:
            each.join(60)
        self.assertEqual(failures, [])
        self.ends_quietly(server)


class Operators(Attack):
    def test_metrics_cost_the_same_whatever_the_number_of_connections(self):
        server = self.serve("--admin", "127.0.0.1:0", "--max-connections", 10_000)

        def cost():
            before = processor_seconds(server)
            with connect(server.admin) as peer, peer.makefile("rb") as reader:
                for _ in range(300):
                    peer.sendall(get("/metrics"))
                    self.assertEqual(read_response(reader)[0], 200)
            return processor_seconds(server) - before

        quiet = cost()
        peers = [self.enterContext(connect(server.port))
                 for _ in range(min(4000, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 200))]
        self.assertTrue(wait_until(lambda: descriptors(server) > len(peers), 10))
        busy = cost()
        print(f"\n  /metrics 300 times: {quiet:.2f} s of processor time, with {len(peers)} connections {busy:.2f} s",
              flush=True)
        self.assertLess(busy, 2 * quiet + 0.2)
        for each in peers:
            reset(each)
        self.ends_quietly(server)

    def test_a_client_has_no_more_connections_than_it_may(self):
        server = self.serve("--max-connections-per-address", 50)
        peers = [self.enterContext(connect(server.port)) for _ in range(200)]
        statuses = []
        for each in peers:
            try:
                each.sendall(get("/small.txt", "Connection: close\r\n") if len(statuses) >= 50 else get("/small.txt"))
                each.settimeout(10)
                statuses.append(int(each.recv(12).split()[1] or 0))
            except (ConnectionResetError, BrokenPipeError, IndexError):
                statuses.append(503)  # closed without a response: there were too many refused connections, too
        self.assertEqual(statuses, [200] * 50 + [503] * 150)
        for each in peers:
            reset(each)
        self.ends_quietly(server)


if __name__ == "__main__":
    unittest.main()
