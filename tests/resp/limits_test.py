#!/usr/bin/env python3
"""How much clients can make resp_server hold, and how one client's commands affect the others: bounds in bytes and
counts."""

import resource
import select
import socket
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "programs"))
from support import BIN, Program  # noqa: E402

if not (BIN / "resp_server").exists():
    print("skipped: resp_server is missing")
    sys.exit(77)

MB = 1 << 20


def array(*arguments):
    parts = [b"*%d\r\n" % len(arguments)]
    for each in arguments:
        data = each if isinstance(each, bytes) else str(each).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(data), data))
    return b"".join(parts)


class Client:
    def __init__(self, server, receive_buffer=None):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
            # With the large segments of the loopback, the kernel would hold megabytes for each such connection. Without
            # memory it drops packets, those of other tests, too.
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1000)
        self.socket.settimeout(60)
        self.socket.connect(("127.0.0.1", server.port))
        self.file = self.socket.makefile("rb")

    def send(self, *arguments):
        self.socket.sendall(array(*arguments))

    def reply(self):
        line = self.file.readline()
        if line[:1] == b"$":
            return None if line == b"$-1\r\n" else self.file.read(int(line[1:]) + 2)[:-2]
        if line[:1] == b"*":
            return [self.reply() for _ in range(int(line[1:]))]
        return line

    def __call__(self, *arguments):
        self.send(*arguments)
        return self.reply()

    def answered(self):
        return bool(select.select([self.socket], [], [], 0)[0])

    def close(self):
        self.file.close()
        self.socket.close()


class Options(unittest.TestCase):
    def test_a_wrong_value_is_refused_with_what_is_expected(self):
        wrong = {
            "--write-timeout": ["nan", "0", "-1", "1e9"],
            "--drain": ["nan", "-1", "inf"],
            "--busy-poll": ["nan", "-1"],
            "--maxmemory": ["-1", "50qb", "many"],
            "--maxmemory-clients": ["-1", "0"],
            "--client-output-buffer-limit": ["-1", "0"],
            "--max-bulk": ["-1", "0", "many"],
            "--max-arguments": ["-1", "0", "many"],
        }
        for option, values in wrong.items():
            for value in values:
                with self.subTest(option=option, value=value):
                    command = [str(BIN / "resp_server"), "--listen", "127.0.0.1:0", f"{option}={value}"]
                    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
                    self.assertEqual(ended.returncode, 2)
                    self.assertRegex(ended.stderr, f"^{option}: expected .*, got \"{value}\"")


class WithServer(unittest.TestCase):
    options = ()

    def serve(self, *arguments):
        if hasattr(self, "enterContext"):
            return self.enterContext(Program("resp_server", *self.options, *arguments))
        return self.start(arguments)

    def start(self, arguments):
        server = Program("resp_server", *self.options, *arguments).__enter__()
        self.addCleanup(server.__exit__)
        return server

    def client(self, server, **options):
        client = Client(server, **options)
        self.addCleanup(client.close)
        return client

    def peak_memory(self, server):
        status = Path(f"/proc/{server.process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) * 1024


class Limits(WithServer):
    def test_a_maxmemory_of_0_is_no_limit(self):
        client = self.client(self.serve("--maxmemory", "0"))
        self.assertEqual(client("SET", "key", "value"), b"+OK\r\n")

    def info(self, client, name):
        lines = client("INFO").decode().split("\r\n")
        return int(next(line for line in lines if line.startswith(name + ":")).split(":")[1])

    def wait_for(self, condition):
        deadline = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def test_replies_that_nobody_reads_stay_within_the_limits(self):
        server = self.serve("--maxmemory", "50mb")
        steady = self.client(server)
        self.assertEqual(steady("SET", "large", b"x" * (4 * MB)), b"+OK\r\n")
        self.assertEqual(steady("SET", "smaller", b"x" * MB), b"+OK\r\n")
        for _ in range(40):  # 40 MB each, of which the kernel takes a few
            self.client(server, receive_buffer=4096).send("MGET", *["large"] * 10)
        self.wait_for(lambda: self.info(steady, "total_commands_processed") > 40)
        self.assertEqual(steady("GET", "smaller"), b"x" * MB)
        self.wait_for(lambda: self.info(steady, "mem_clients_normal") <= 50 * MB)  # evicted clients have left
        self.assertLess(self.peak_memory(server), (50 + 50 + 50) * MB)

    def test_a_reply_over_the_limit_is_refused_and_the_connection_goes_on(self):
        server = self.serve("--client-output-buffer-limit", "1mb")
        client = self.client(server)
        values = {"half": b"h" * (MB // 2), "most": b"m" * (MB - 1000), "large": b"l" * MB}
        for key, value in values.items():
            self.assertEqual(client("SET", key, value), b"+OK\r\n")
        client.socket.sendall(array("PING") + array("GET", "large") + array("PING") + array("GET", "most"))
        self.assertEqual(client.reply(), b"+PONG\r\n")
        self.assertRegex(client.reply(), b"^-OOM reply is larger than 'client-output-buffer-limit'")
        self.assertEqual(client.reply(), b"+PONG\r\n")
        self.assertEqual(client.reply(), values["most"])
        # An array may be larger: its values are sent one after the other.
        half, most, large, none, last = client("MGET", "half", "most", "large", "none", "half")
        self.assertEqual([half, most, none, last], [values["half"], values["most"], None, values["half"]])
        self.assertRegex(large, b"^-OOM reply is larger than 'client-output-buffer-limit'")

    def test_a_client_that_holds_most_leaves_for_one_that_needs_less(self):
        server = self.serve("--maxmemory-clients", "32mb")
        steady, greedy, modest = (self.client(server) for _ in range(3))
        for size in (14, 12, 10):
            self.assertEqual(steady("SET", f"{size}", b"x" * (size * MB)), b"+OK\r\n")
        greedy.send("GET", "14")
        modest.send("GET", "12")
        self.wait_for(lambda: self.info(steady, "mem_clients_normal") > 26 * MB)
        self.assertEqual(steady("GET", "10"), b"x" * (10 * MB))
        self.assertEqual(self.info(steady, "evicted_clients"), 1)
        self.assertRaises(ConnectionResetError, greedy.file.read)  # what was cut off does not look whole

    def test_requests_that_do_not_end_stay_within_the_limits(self):
        server = self.serve("--maxmemory-clients", "32mb")
        steady = self.client(server)
        for _ in range(12):
            client = self.client(server)
            try:
                client.socket.sendall(b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$60000000\r\n" + b"x" * (20 * MB))
            except (BrokenPipeError, ConnectionResetError):
                pass  # evicted while it was sending
        self.assertEqual(steady("PING"), b"+PONG\r\n")
        self.assertGreater(self.info(steady, "evicted_clients"), 5)
        self.assertLess(self.peak_memory(server), (32 + 32 + 20) * MB)  # a growing buffer exists twice
        alone = self.client(server)
        alone.socket.sendall(b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$60000000\r\n")
        try:
            alone.socket.sendall(b"x" * (60 * MB))
        except (BrokenPipeError, ConnectionResetError):
            pass
        self.assertEqual(steady("PING"), b"+PONG\r\n")

    def test_buffers_count_for_maxmemory_as_in_redis(self):
        server = self.serve("--maxmemory", "20mb", "--maxmemory-clients", "64mb")
        steady = self.client(server)
        self.assertEqual(steady("SET", "large", b"x" * (8 * MB)), b"+OK\r\n")
        self.assertEqual(steady("SET", "small", "1"), b"+OK\r\n")
        for _ in range(2):
            self.client(server, receive_buffer=4096).send("GET", "large")
        self.wait_for(lambda: self.info(steady, "mem_clients_normal") > 16 * MB)
        self.assertRegex(steady("SET", "small", "2"), b"^-OOM command not allowed")
        self.assertEqual(steady("GET", "small"), b"1")

    def test_a_reply_that_is_not_read_ends_with_the_time_out(self):
        server = self.serve("--write-timeout", "0.2")
        steady, deaf = self.client(server), self.client(server)
        self.assertEqual(steady("SET", "large", b"x" * (32 * MB)), b"+OK\r\n")
        deaf.send("GET", "large")
        self.wait_for(lambda: self.info(steady, "client_write_timeouts") == 1)
        self.wait_for(lambda: self.info(steady, "connected_clients") == 1)
        self.assertLess(self.info(steady, "mem_clients_normal"), MB)

    def test_a_slow_client_that_reads_gets_everything(self):
        limit = 0.2
        while not self.slow_client_gets_everything(limit):
            limit *= 2
            self.assertLess(limit, 10)

    def slow_client_gets_everything(self, limit):
        """False if a busy machine kept the client from reading in time."""
        server = self.serve("--write-timeout", f"{limit}")
        steady, slow = self.client(server), self.client(server)
        self.assertEqual(steady("SET", "large", b"x" * (32 * MB)), b"+OK\r\n")
        slow.send("GET", "large")
        received, longest, last = 0, 0, time.monotonic()
        while received < 32 * MB:
            data = slow.socket.recv(MB)
            longest, last = max(longest, time.monotonic() - last), time.monotonic()
            if longest > limit / 2:
                return False
            self.assertTrue(data, received)
            received += len(data)
            time.sleep(limit / 7)  # in total about five times the limit
        self.assertEqual(self.info(steady, "client_write_timeouts"), 0)
        return True

    def test_requests_of_a_client_that_does_not_read_are_not_read_either(self):
        server = self.serve()
        steady, deaf = self.client(server), self.client(server)
        self.assertEqual(steady("SET", "some", b"x" * 1000), b"+OK\r\n")
        deaf.socket.setblocking(False)
        requests, sent = array("GET", "some") * 10_000, 0
        while select.select([], [deaf.socket], [], 0.5)[1] and sent < 256 * MB:
            sent += deaf.socket.send(requests[sent % len(requests):])
        self.assertLess(sent, 64 * MB)  # the size of the kernel's buffers; a reply is forty times as large
        self.assertLess(self.info(steady, "mem_clients_normal"), 2 * MB)
        self.assertLess(self.peak_memory(server), 64 * MB)
        deaf.socket.setblocking(True)
        for _ in range(sent // (len(requests) // 10_000)):
            self.assertEqual(deaf.reply(), b"x" * 1000)

    def test_clients_that_wait_hold_no_receive_buffers(self):
        resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
        server = self.serve()
        steady = self.client(server)
        self.assertEqual(steady("SET", "some", b"x" * 20_000), b"+OK\r\n")
        clients = 1200  # a loop has 1024 receive buffers
        deaf = [self.client(server, receive_buffer=4096) for _ in range(clients)]
        for each in deaf:
            each.socket.sendall(array("GET", "some") * 200)
        self.wait_for(lambda: self.info(steady, "total_commands_processed") > clients)
        for _ in range(100):
            self.assertEqual(steady("PING", b"y" * 60_000), b"y" * 60_000)
        for each in deaf:
            self.assertEqual(each.reply(), b"x" * 20_000)

    def test_requests_that_clients_send_ahead_keep_no_receive_buffers_from_others(self):
        server = self.serve()
        steady = self.client(server)
        self.assertEqual(steady("SET", "some", b"x" * 20_000), b"+OK\r\n")
        deaf = [self.client(server, receive_buffer=4096) for _ in range(150)]
        for each in deaf:
            each.socket.setblocking(False)
            each.socket.send(array("GET", "some") * 10_000)
        self.wait_for(lambda: self.info(steady, "total_commands_processed") > 150)
        sockets = [each.socket for each in deaf]
        while writable := select.select([], sockets, [], 0.2)[1]:
            for each in writable:
                each.send(array("GET", "some") * 10_000)
        for _ in range(100):
            self.assertEqual(steady("PING", b"y" * 60_000), b"y" * 60_000)
        self.assertEqual(self.client(server)("PING"), b"+PONG\r\n")
        self.assertLess(self.peak_memory(server), 128 * MB)


if __name__ == "__main__":
    unittest.main()
