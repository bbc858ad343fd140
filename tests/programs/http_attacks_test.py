"""gyre serve and hello_server under attack by clients that are slow, numerous or rude, or lie about request
boundaries."""

import contextlib
import io
import json
import os
import random
import re
import resource
import select
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

from support import Example, Serve, run

LIMIT = 2  # seconds: the time-outs of the servers in the slow attacks
REFUSALS = {400, 413, 414, 417, 421, 431, 501, 505}


def connect(port, receive_buffer=None, timeout=30):
    peer = socket.socket()
    peer.settimeout(timeout)
    if receive_buffer:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        peer.connect(("127.0.0.1", port))
    except OSError:
        peer.close()
        raise
    return peer


def leave_rudely(peer):
    """Resets the connection instead of an orderly close, so that no port stays in TIME_WAIT."""
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()


def read_all(peer):
    """Returns everything until the peer closes or resets."""
    received = b""
    try:
        while chunk := peer.recv(65_536):
            received += chunk
    except ConnectionResetError:
        pass
    return received


def read_response(reader):
    """Returns status, fields (lower case) and body of the next response, or None at the end."""
    line = reader.readline()
    if not line:
        return None
    found = re.fullmatch(rb"HTTP/1\.1 (\d{3}) [^\r\n]*\r\n", line)
    assert found, line
    fields = {}
    while (line := reader.readline()) != b"\r\n":
        assert line.endswith(b"\r\n"), line
        name, value = line[:-2].split(b": ", 1)
        fields[name.lower().decode()] = value.decode()
    length = int(fields.get("content-length", 0))
    body = reader.read(length)
    assert len(body) == length, (fields, len(body))
    return int(found.group(1)), fields, body


def responses_in(received):
    reader, all_of_them = io.BytesIO(received), []
    while (one := read_response(reader)) is not None:
        all_of_them.append(one)
    return all_of_them


def get(path, more=""):
    return f"GET {path} HTTP/1.1\r\nHost: a\r\n{more}\r\n".encode()


def descriptors(server):
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


def named_descriptors(server):
    there = f"/proc/{server.process.pid}/fd"
    return [os.readlink(f"{there}/{each}") for each in os.listdir(there)]


def resident(server):
    return int(re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{server.process.pid}/status").read_text()).group(1)) * 1024


def peak(server):
    return int(re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{server.process.pid}/status").read_text()).group(1)) * 1024


def processor_seconds(server):
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_until(holds, seconds):
    """Polls a condition of the server that it does not report. Returns whether it holds in time."""
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.02)
    return holds()


class Bystanders:
    """Well-behaved clients during an attack: each with its own connection, and one that reconnects for each request."""

    def __init__(self, test, port, path, content, what):
        self.test, self.port, self.path, self.content, self.what = test, port, path, content, what

    def __enter__(self):
        self.stopping, self.failures, self.seconds = threading.Event(), [], []
        self.threads = [threading.Thread(target=self.ask, args=(i == 0,)) for i in range(3)]
        for each in self.threads:
            each.start()
        return self

    def ask(self, reconnects):
        peer = None
        try:
            while not self.stopping.wait(0.01):
                began = time.monotonic()
                if peer is None or reconnects:
                    if peer:
                        reader.close()
                        leave_rudely(peer)
                    peer = connect(self.port)
                    reader = peer.makefile("rb")
                peer.sendall(get(self.path))
                answer = read_response(reader)
                self.seconds.append(time.monotonic() - began)
                if answer is None or answer[0] != 200 or answer[2] != self.content:
                    self.failures.append(answer)
                    return
        except Exception as error:  # any exception means that an answer is missing
            self.failures.append(error)
        finally:
            if peer:
                reader.close()
                peer.close()

    def __exit__(self, kind, *_):
        self.stopping.set()
        for each in self.threads:
            each.join(40)
        if kind:
            return
        self.test.assertEqual(self.failures, [], self.what)
        self.test.assertTrue(self.seconds, self.what)
        spent = sorted(1000 * each for each in self.seconds)
        print(f"\n  beside {self.what}: {len(spent)} answers, median {spent[len(spent) // 2]:.2f} ms, "
              f"99 % {spent[len(spent) * 99 // 100]:.2f} ms, longest {spent[-1]:.2f} ms", flush=True)


class Attack(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name)
        self.root, self.uploads = self.scratch / "root", self.scratch / "uploads"
        self.root.mkdir()
        self.uploads.mkdir()
        self.small = b"small\n" * 100
        (self.root / "small.txt").write_bytes(self.small)
        with open(self.root / "large", "wb") as large:
            large.write(os.urandom(1 << 20) * 32)

    def serve(self, *arguments):
        return self.enterContext(Serve(self.root, "--allow-host", "a", "--access-log", "off", "--upload", self.uploads, *arguments))

    def serve_impatiently(self, *arguments):
        return self.serve("--header-timeout", LIMIT, "--body-timeout", LIMIT, "--write-timeout", LIMIT, *arguments)

    def beside(self, server, what):
        return Bystanders(self, server.port, "/small.txt", self.small, what)

    @contextlib.contextmanager
    def assertNoDescriptorLeft(self, server, peers):
        """Expects that the server closes the descriptors of these connections once they have been closed."""
        self.assertTrue(wait_until(lambda: descriptors(server) >= len(peers), 10))
        before = descriptors(server) - len(peers)
        yield
        for each in peers:
            each.close()
        self.assertTrue(wait_until(lambda: descriptors(server) <= before, 10))

    def ends_quietly(self, server):
        """Expects exit code 0 and no messages on standard error."""
        self.assertEqual(server.stop(), 0)
        self.assertEqual(server.process.stderr.read(), "")


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

    def test_slow_heads(self):
        server = self.serve_impatiently()
        before = descriptors(server)
        with self.beside(server, "slow heads"):
            for received in self.attack(server, b"GET / HTTP/1.1\r\nHost: a\r\nX: ", b"a", reads=4096):
                self.assertIn(b"HTTP/1.1 408 ", received or b"HTTP/1.1 408 ")  # a reset may have discarded it
        self.assertTrue(wait_until(lambda: descriptors(server) == before, 10))
        self.ends_quietly(server)

    def test_slow_bodies(self):
        server = self.serve_impatiently()
        head = (b"POST /_upload HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000000\r\n"
                b"\r\n--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"slow\"\r\n\r\n")
        before = descriptors(server)
        with self.beside(server, "slow bodies"):
            for received in self.attack(server, head, b"a", reads=4096):
                self.assertIn(b"HTTP/1.1 408 ", received or b"HTTP/1.1 408 ")
        self.assertTrue(wait_until(lambda: descriptors(server) == before, 10))
        self.assertEqual(list(self.uploads.iterdir()), [])
        self.ends_quietly(server)

    def test_slow_bodies_in_chunks(self):
        server = self.serve_impatiently()
        head = (b"POST /_upload HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=b\r\n"
                b"Transfer-Encoding: chunked\r\n\r\n")
        with self.beside(server, "slow chunks"):
            for received in self.attack(server, head, b"1\r\na\r\n", reads=4096):
                self.assertRegex(received or b"HTTP/1.1 408 ", rb"^HTTP/1\.1 4")
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
            done = run("slowhttptest", "-c", 200, "-r", 200, "-l", 8, "-p", 5, *arguments, "-u", f"http://127.0.0.1:{server.port}{path}", timeout=40,
                       cwd=self.scratch, env={**os.environ, "TERM": "dumb"})
        text = re.sub(r"\x1b\[[0-9;]*m", "", (done.stdout + done.stderr).decode())
        found = re.findall(r"service available: *(\w+)", text)
        self.assertTrue(found, text)
        self.assertEqual(set(found), {"YES"}, text)
        self.ends_quietly(server)

    def test_slow_headers(self):
        self.attack("/small.txt", "-H", "-i", 1, "-x", 24)

    def test_slow_bodies(self):
        self.attack("/_upload", "-B", "-i", 1, "-s", 8192, "-x", 10)

    def test_many_ranges(self):
        self.attack("/large", "-R", "-a", 5, "-b", 3000)

    def test_slow_reads(self):
        self.attack("/large", "-X", "-w", 512, "-y", 1024, "-n", 1, "-z", 32, "-k", 3)


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
                  f"{(used - memory_before) / count:.0f} when idle behind one (all: {used / 2**20:.1f} MiB)", flush=True)
        finally:
            for each in peers:
                leave_rudely(each)
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
        large, form = get("/large"), (b"POST /_upload HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=b\r\n"
                                      b"Content-Length: 1000000\r\n\r\n--b\r\nContent-Disposition: form-data; name=\"file\"; "
                                      b"filename=\"cut\"\r\n\r\n" + b"x" * 5000)
        chunks = (b"POST /_upload HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=b\r\n"
                  b"Transfer-Encoding: chunked\r\n\r\n5\r\n--b")
        beginnings = [(large, True), (large, False), (large * 3, True), (large[:20], False), (form, False), (chunks, False),
                      (b"", False), (get("/small.txt") * 50 + large[:-1], True), (get("/small.txt") * 50, False)]
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
                        leave_rudely(peer)
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
                leave_rudely(peer)
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
        tracer = subprocess.Popen(["strace", "-f", "-o", "/dev/null", "-e", "inject=sendfile:delay_exit=1000", "-p", str(server.process.pid)],
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
        print(f"\n  {len(gaps)} answers beside a download of 1 GiB, at most {max(gaps)} MiB of it between two", flush=True)
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


def waits(server):
    """Returns how often the server's threads have waited for anything, including another thread."""
    threads = Path(f"/proc/{server.process.pid}/task").iterdir()
    return sum(int(re.search(r"\nvoluntary_ctxt_switches:\s+(\d+)", (each / "status").read_text()).group(1)) for each in threads)


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
                leave_rudely(each)
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
        server = self.enterContext(Serve(self.root, "--allow-host", "a", "--access-log", "text", "--write-timeout", 120, output=log))
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
            peer.sendall(b"POST /_upload HTTP/1.1\r\nHost: a\r\nAccept: application/json\r\nTransfer-Encoding: chunked\r\n"
                         b"Content-Type: multipart/form-data; boundary=b\r\n\r\n" + b"%x\r\n" % len(part) + part + b"\r\n")
            for _ in range(count // 20_000):
                peer.sendall(b"1\r\nx\r\n" * 20_000)
            peer.sendall(b"9\r\n\r\n--b--\r\n\r\n0\r\n\r\n")
            self.assertTrue(peer.recv(4096).startswith(b"HTTP/1.1 201 "))
        waited, spent = waits(server) - before, processor_seconds(server) - began
        print(f"\n  {count} chunks of a byte: {waited} waits, {1e6 * spent / count:.2f} us of processor time each", flush=True)
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
                    body = f'--b\r\nContent-Disposition: form-data; name="f"; filename="{name}"\r\n\r\nx\r\n--b--\r\n'.encode()
                    peer.sendall(b"POST /_upload HTTP/1.1\r\nHost: a\r\nAccept: application/json\r\nContent-Length: "
                                 b"%d\r\nContent-Type: multipart/form-data; boundary=b\r\n\r\n" % len(body) + body)
                    self.assertEqual(read_response(reader)[0], 201)
            return processor_seconds(server) - began

        different = upload_all(f"{i}" for i in range(500))
        same = upload_all("a" for _ in range(500))
        print(f"\n  500 uploads: {different:.2f} s of processor time by names of their own, {same:.2f} s by one", flush=True)
        self.assertLess(same, 5 * different + 0.1)
        self.ends_quietly(server)

    def test_a_server_behind_the_proxy_that_says_more_than_it_was_asked_for(self):
        rounds, connections = 50, []
        answered, sent = threading.Semaphore(0), threading.Semaphore(0)
        listener = self.enterContext(socket.create_server(("127.0.0.1", 0)))

        def serve(peer):
            with peer, peer.makefile("rb") as reader:
                try:
                    while line := reader.readline():
                        while reader.readline() != b"\r\n":
                            pass
                        path = line.split()[1]
                        peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(path) + path)
                        answered.acquire()
                        peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret")
                        sent.release()
                except ConnectionResetError:  # with "secret" unread
                    pass

        def accept():
            try:
                while True:
                    connections.append(listener.accept()[0])
                    threading.Thread(target=serve, args=(connections[-1],), daemon=True).start()
            except OSError:
                pass

        threading.Thread(target=accept, daemon=True).start()
        proxy = Example("reverse_proxy")
        proxy.command += ["--upstream", f"127.0.0.1:{listener.getsockname()[1]}"]
        with proxy, connect(proxy.port) as peer, peer.makefile("rb") as reader:
            for i in range(rounds):
                peer.sendall(get(f"/{i}"))
                self.assertEqual(read_response(reader)[2], f"/{i}".encode())
                answered.release()
                self.assertTrue(sent.acquire(timeout=20))
            self.assertEqual(len(connections), rounds)
            self.assertTrue(wait_until(lambda: descriptors(proxy) < 20, 20), named_descriptors(proxy))
            listener.close()
            self.ends_quietly(proxy)

    def test_a_server_behind_the_proxy_that_gives_up_waiting_just_when_it_is_asked_again(self):
        listener = self.enterContext(socket.create_server(("127.0.0.1", 0)))
        asked = []

        def serve(peer):
            with peer, peer.makefile("rb") as reader:
                late = b""
                for first in (True, False, False):
                    line = reader.readline()
                    if not line:
                        return
                    while reader.readline() != b"\r\n":
                        pass
                    path = line.split()[1]
                    asked.append((peer.fileno(), path))
                    if first:
                        peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(path) + path)
                    elif not late:  # it belongs to the time before this request, whose response comes later
                        peer.sendall(b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")
                        late = path
                    else:
                        peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(late) + late)

        def accept():
            with contextlib.suppress(OSError):
                while True:
                    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        proxy = Example("reverse_proxy")
        proxy.command += ["--upstream", f"127.0.0.1:{listener.getsockname()[1]}"]
        with proxy, connect(proxy.port) as peer, peer.makefile("rb") as reader:
            for i in range(20):
                peer.sendall(get(f"/{i}"))
                self.assertEqual(read_response(reader)[::2], (200, f"/{i}".encode()), asked)
            for path in (b"/first", b"/again"):  # cannot be repeated: each gets the 408, and nothing follows
                peer.sendall(b"POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n" % path)
                self.assertEqual(read_response(reader)[::2], (200, path), asked)
            listener.close()
            self.ends_quietly(proxy)


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
    "a coding in HTTP/1.0": b"POST /echo HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
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
                noise = bytes(draw.choices(b"\0\t\n\r \x7f\xff:/;,?GETPOS0123abc", k=draw.randrange(1, 80))) + b"\nx\r\n\r\n"
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
                    self.assertTrue(not answers or (len(answers) == 1 and answers[0][0] in REFUSALS), (request[:at], answers))
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
                        self.assertEqual((status, body), (200, b"Hello, World!" if request[:1] == b"G" else b"0123456789"))
            self.ends_quietly(server)

    def test_an_upload_cut_at_any_byte_leaves_nothing_of_a_file(self):
        server = self.serve()
        body = b"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"cut\"\r\n\r\ncontent\r\n--b--"
        request = (b"POST /_upload HTTP/1.1\r\nHost: a\r\nAccept: application/json\r\n"
                   b"Content-Type: multipart/form-data; boundary=b\r\n" + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
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
        print(f"\n  200 listings: {size >> 20} MB, {(peak(server) - before) >> 20} MB of memory, {spent:.2f} s of processor time; "
              f"{len(seen_by_others)} files opened meanwhile, the first when {seen_by_others[0]} listings were complete", flush=True)
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
        print(f"\n  4 listings of ampersands: {size >> 20} MB, {(peak(server) - before) >> 20} MB of memory", flush=True)
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
            leave_rudely(each)
        self.ends_quietly(server)

    def beside(self, server, what):
        (self.root / "small.txt").write_bytes(self.small)
        return super().beside(server, what)


class Text(Attack):
    """Text from clients reaches logs, and the terminals of their readers."""

    ACTS_ON_A_TERMINAL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")

    def test_no_client_writes_controls_into_a_json_log(self):
        draw = random.Random(7)
        codes = [chr(code) for code in (0x9, 0x80, 0x85, 0x9b, 0x61c, 0x200e, 0x2028, 0x202e, 0x2066, 0x41, 0x22, 0x5c, 0x1f600)]
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
        peers = [self.enterContext(connect(server.port)) for _ in range(min(4000, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 200))]
        self.assertTrue(wait_until(lambda: descriptors(server) > len(peers), 10))
        busy = cost()
        print(f"\n  /metrics 300 times: {quiet:.2f} s of processor time, with {len(peers)} connections {busy:.2f} s", flush=True)
        self.assertLess(busy, 2 * quiet + 0.2)
        for each in peers:
            leave_rudely(each)
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
            leave_rudely(each)
        self.ends_quietly(server)


if __name__ == "__main__":
    unittest.main()
