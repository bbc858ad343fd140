"""resp_server with several threads: the keys are spread over the loops, and clients cannot tell."""

import signal
import threading
import time
import unittest

import resp_test
from resp_test import Client
from support import Program, run, skip_without

skip_without("redis-cli", "redis-benchmark")


def info(client, name):
    lines = client("INFO").decode().split("\r\n")
    return int(next(line for line in lines if line.startswith(name + ":")).split(":")[1])


def encoded(*arguments):
    return b"*%d\r\n" % len(arguments) + b"".join(b"$%d\r\n%s\r\n" % (len(each), each) for each in arguments)


class SameAsWithOneThread(resp_test.Resp):
    options = ("--threads", "3", "--accept", "one_acceptor")  # every loop gets connections


class Shards(unittest.TestCase):
    def serve(self, *arguments, threads=2):
        server = Program("resp_server", "--threads", str(threads), *arguments).__enter__()
        self.addCleanup(server.__exit__)
        return server

    def client(self, server):
        client = Client(server.port)
        self.addCleanup(client.__exit__)
        return client

    def test_redis_cli_and_redis_benchmark_work_unchanged(self):
        server = self.serve()
        run("redis-cli", "-p", server.port, "SET", "cli", "value")
        self.assertEqual(run("redis-cli", "-p", server.port, "GET", "cli").stdout.strip(), b"value")
        for pipeline in (1, 16):
            done = run("redis-benchmark", "-p", server.port, "-t", "ping_mbulk,set,get,incr,mset", "-n", 5000, "-r",
                       10000, "-P", pipeline, "-c", 20, "--csv")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.decode().count("\n"), 6, done.stdout)

    def test_commands_over_many_keys_see_all_shards(self):
        for accept in ("reuse_port", "one_acceptor"):
            c = self.client(self.serve("--accept", accept, threads=3))
            keys = [f"key{i}" for i in range(100)]
            self.assertEqual(c("MSET", *[word for key in keys for word in (key, "v" + key)]), "+OK")
            self.assertEqual(c("MGET", *reversed(keys)), [b"v" + key.encode() for key in reversed(keys)])
            self.assertEqual(info(c, "keys"), 100)
            self.assertEqual(c("EXISTS", *keys, "none"), 100)
            self.assertEqual(c("DEL", *keys[:60], "none"), 60)
            self.assertEqual(info(c, "keys"), 40)

    def test_info_adds_up_the_loops(self):
        server = self.serve(threads=3)
        clients = [self.client(server) for _ in range(20)]
        for i, client in enumerate(clients):
            self.assertEqual(client("SET", f"key{i}", "v", "EX", "1000"), "+OK")
        steady = clients[0]
        self.assertEqual(info(steady, "connected_clients"), 20)
        self.assertEqual(info(steady, "total_connections_received"), 20)
        self.assertEqual(info(steady, "total_commands_processed"), 22)
        self.assertEqual(info(steady, "keys"), 20)
        self.assertEqual(info(steady, "expiring_keys"), 20)
        self.assertEqual(info(steady, "shards"), 3)

    def test_keys_that_nobody_asks_for_expire_on_every_shard(self):
        c = self.client(self.serve(threads=3))
        for i in range(100):
            self.assertEqual(c("SET", f"key{i}", "v", "PX", "20"), "+OK")
        deadline = time.monotonic() + 20
        while info(c, "keys") != 0:
            self.assertLess(time.monotonic(), deadline)

    def test_maxmemory_holds_for_all_shards_together(self):
        c = self.client(self.serve("--maxmemory", "10mb", threads=3))
        stored = 0
        while c("SET", f"key{stored}", b"x" * 100_000) == "+OK":
            stored += 1
            self.assertLess(stored, 120)
        self.assertGreater(stored, 95)
        # Each shard frees what it has removed when it is asked for room, and the buffers of clients count: so some of
        # these may still fit.
        more = 0
        while c("MSET", *(each for name in range(more, more + 4) for each in (f"more{name}", b"x" * 1000))) == "+OK":
            more += 4
            self.assertLess(more, 400)
        self.assertTrue(c("MSET", *(each for name in "abcd" for each in (name, b"x" * 2000))).startswith("-OOM "))
        self.assertEqual(c("EXISTS", "a", "b", "c", "d"), 0)
        c.raw(encoded(b"DEL", *[b"key%d" % i for i in range(stored)]) + encoded(b"MSET", b"a", b"1", b"b", b"2"))
        self.assertEqual([c.reply(), c.reply()], [stored, "+OK"])

    def test_a_reply_over_the_limit_is_refused_wherever_the_key_is(self):
        c = self.client(self.serve("--client-output-buffer-limit", "150kb", threads=3))
        for i in range(6):
            self.assertEqual(c("SET", f"large{i}", b"%d" % i * 200_000), "+OK")
            self.assertEqual(c("SET", f"key{i}", b"%d" % i * 100_000), "+OK")
        c.raw(b"".join(encoded(b"GET", b"large%d" % i) + encoded(b"GET", b"key%d" % i) for i in range(6)))
        for i in range(6):
            self.assertTrue(c.reply().startswith("-OOM reply is larger"))
            self.assertEqual(c.reply(), b"%d" % i * 100_000)

    def test_sigterm_under_load_answers_every_request_that_had_arrived(self):
        for accept in ("reuse_port", "one_acceptor"):
            with Program("resp_server", "--threads", "2", "--accept", accept) as server:
                clients = [Client(server.port) for _ in range(16)]
                for c in clients:
                    self.assertEqual(c("PING"), "+PONG")
                requests = [b"".join(encoded(b"INCR", b"c%d:%d" % (n, i % 50)) for i in range(1500)) for n in range(16)]
                for c, bytes_of in zip(clients, requests):
                    c.raw(bytes_of)
                self.assertEqual(server.stop(signal.SIGTERM), 0)
                for c in clients:
                    self.assertEqual([c.reply() for _ in range(1500)], [1 + i // 50 for i in range(1500)])
                    self.assertIsNone(c.reply())
                    c.__exit__()

    def test_clients_that_pipeline_to_the_same_keys_count_every_request(self):
        server = self.serve(threads=2)
        clients = [self.client(server) for _ in range(8)]

        def count(client, seen):
            for _ in range(20):
                client.raw(b"".join(encoded(b"INCR", b"shared%d" % (i % 10)) for i in range(200)))
                seen.append([client.reply() for _ in range(200)])

        replies = [[] for _ in clients]
        threads = [threading.Thread(target=count, args=each) for each in zip(clients, replies)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        for key in range(10):
            self.assertEqual(clients[0]("GET", f"shared{key}"), b"3200")
            own = [[number for batch in seen for number in batch[key::10]] for seen in replies]
            self.assertTrue(all(numbers == sorted(numbers) for numbers in own))
            self.assertEqual(sorted(sum(own, [])), list(range(1, 3201)))


if __name__ == "__main__":
    unittest.main()
