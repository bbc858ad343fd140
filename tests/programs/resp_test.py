"""resp_server, used by redis-cli, redis-benchmark and a client written here."""

import signal
import socket
import time
import unittest

from support import Program, run, skip_without

skip_without("redis-cli", "redis-benchmark")


class Client:
    """A minimal RESP2 client."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), 10)
        self.file = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()
        self.socket.close()

    def send(self, *arguments):
        parts = [b"*%d\r\n" % len(arguments)]
        for each in arguments:
            data = each if isinstance(each, bytes) else str(each).encode()
            parts.append(b"$%d\r\n%s\r\n" % (len(data), data))
        self.socket.sendall(b"".join(parts))

    def raw(self, data):
        self.socket.sendall(data)

    def reply(self):
        line = self.file.readline()
        if not line:
            return None
        kind, rest = line[:1], line[1:-2]
        if kind == b"$":
            return None if rest == b"-1" else self.file.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return None if rest == b"-1" else [self.reply() for _ in range(int(rest))]
        return int(rest) if kind == b":" else (kind + rest).decode()

    def __call__(self, *arguments):
        self.send(*arguments)
        return self.reply()


class Resp(unittest.TestCase):
    options = ()

    @classmethod
    def setUpClass(cls):
        cls.server = Program("resp_server", *cls.options).__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def client(self):
        client = Client(self.server.port)
        self.addCleanup(client.__exit__)
        return client

    def test_redis_cli_works_unchanged(self):
        def cli(*arguments):
            return run("redis-cli", "-p", self.server.port, *arguments).stdout.decode().strip()

        self.assertEqual(cli("PING"), "PONG")
        self.assertEqual(cli("SET", "cli", "value"), "OK")
        self.assertEqual(cli("GET", "cli"), "value")
        self.assertEqual(cli("INCR", "cli:n"), "1")
        self.assertIn("connected_clients:", cli("INFO"))
        self.assertIn("ERR unknown command", cli("NOSUCH"))

    def test_redis_benchmark_works_unchanged(self):
        for pipeline in (1, 16):
            done = run("redis-benchmark", "-p", self.server.port, "-t", "ping_inline,ping_mbulk,set,get,incr,mset",
                       "-n", 5000, "-P", pipeline, "-c", 20, "--csv")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.decode().count("\n"), 7, done.stdout)

    def test_the_commands(self):
        c = self.client()
        self.assertEqual(c("PING"), "+PONG")
        self.assertEqual(c("PING", "hi"), b"hi")
        self.assertEqual(c("SET", "a", "1"), "+OK")
        self.assertIsNone(c("SET", "a", "2", "NX"))
        self.assertIsNone(c("SET", "b", "2", "XX"))
        self.assertEqual(c("GET", "a"), b"1")
        self.assertEqual(c("INCR", "a"), 2)
        self.assertEqual(c("MSET", "x", "1", "y", "2"), "+OK")
        self.assertEqual(c("MGET", "x", "none", "y"), [b"1", None, b"2"])
        self.assertEqual(c("EXISTS", "x", "y", "none"), 2)
        self.assertEqual(c("DEL", "x", "none"), 1)
        self.assertEqual(c("TTL", "y"), -1)
        self.assertEqual(c("EXPIRE", "y", 100), 1)
        self.assertIn(c("TTL", "y"), (99, 100))
        self.assertEqual(c("TTL", "none"), -2)
        self.assertTrue(str(c("INCR")).startswith("-ERR wrong number of arguments"))
        self.assertTrue(str(c("NOSUCH", "a")).startswith("-ERR unknown command"))

    def test_keys_expire(self):
        c = self.client()
        self.assertEqual(c("SET", "short", "1", "PX", 30), "+OK")
        deadline = time.monotonic() + 5
        while c("GET", "short") is not None:
            self.assertLess(time.monotonic(), deadline)

    def test_requests_in_pieces_and_in_one_piece(self):
        c = self.client()
        request = b"*3\r\n$3\r\nSET\r\n$5\r\nsplit\r\n$4\r\nabcd\r\nPING\r\n*2\r\n$3\r\nGET\r\n$5\r\nsplit\r\n"
        for byte in request:
            c.raw(bytes([byte]))
        self.assertEqual([c.reply(), c.reply(), c.reply()], ["+OK", "+PONG", b"abcd"])
        c.raw(request * 1000)
        for _ in range(1000):
            self.assertEqual([c.reply(), c.reply(), c.reply()], ["+OK", "+PONG", b"abcd"])

    def test_a_large_value_comes_back_whole(self):
        c = self.client()
        value = bytes(range(256)) * 20_000
        self.assertEqual(c("SET", "large", value), "+OK")
        self.assertEqual(c("GET", "large"), value)

    def test_malformed_input_gets_an_error_and_a_closed_connection(self):
        for data in (b"*1\r\n:1\r\n", b"*99999999999\r\n", b"*1\r\n$-5\r\n", b"*1\r\n$999999999999\r\n",
                     b"x" * 70_000):
            c = self.client()
            c.raw(data)
            reply = c.reply()
            self.assertTrue(isinstance(reply, str) and reply.startswith("-ERR Protocol error"), (data[:20], reply))
            self.assertEqual(c.file.read(), b"")

    def test_a_client_that_leaves_in_mid_request_disturbs_nobody(self):
        steady = self.client()
        for _ in range(50):
            c = Client(self.server.port)
            c.raw(b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1000\r\nabc")
            c.__exit__()
            self.assertEqual(steady("PING"), "+PONG")

    def test_sigterm_answers_what_had_arrived_and_exits_0(self):
        with Program("resp_server", *self.options) as server, Client(server.port) as c:
            self.assertEqual(c("SET", "a", "1"), "+OK")
            c.send("GET", "a")
            self.assertEqual(server.stop(signal.SIGTERM), 0)
            self.assertEqual(c.reply(), b"1")


if __name__ == "__main__":
    unittest.main()
