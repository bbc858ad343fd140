#!/usr/bin/env python3
"""Sends the same bytes to redis-server and to GYRE_BIN_DIR/resp_server and compares every byte of the replies."""

import itertools
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "programs"))
from support import BIN, Program, free_port  # noqa: E402

if not shutil.which("redis-server") or not (BIN / "resp_server").exists():
    print("skipped: redis-server or resp_server is missing")
    sys.exit(77)

FAR = "99999999999"  # seconds since 1970, in the year 5138: times to live stay the same on both sides for a while


def array(*arguments):
    """Returns a request in the form that clients send."""
    parts = [b"*%d\r\n" % len(arguments)]
    for each in arguments:
        data = each if isinstance(each, bytes) else str(each).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(data), data))
    return b"".join(parts)


def words(text):
    """Returns the requests that semicolons separate, each of words that blanks separate. '' is the empty argument."""
    return [array(*("" if word == "''" else word for word in request.split())) for request in text.split(";")]


def same_time(request, ours, theirs):
    """Returns whether times to live differ by no more than the moment between the two clock readings."""
    words = request.upper().split(b"\r\n")
    slack = {b"TTL": 1, b"PTTL": 1000}.get(words[2] if len(words) > 2 else b"", 0)
    if slack == 0 or not (ours.startswith(b":") and theirs.startswith(b":")):
        return False
    left, right = int(ours[1:]), int(theirs[1:])
    return min(left, right) >= 0 and abs(left - right) <= slack


class Redis:
    """redis-server on a free port, with no files and one database, as resp_server has."""

    def __enter__(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.port = free_port()
        self.process = subprocess.Popen(
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
             "--databases", "1", "--proto-max-bulk-len", "64mb", "--dir", self.scratch.name], stdout=subprocess.DEVNULL)
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return self
            except ConnectionRefusedError:
                time.sleep(0.02)
        raise AssertionError("redis-server does not listen")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20)
        self.scratch.cleanup()


class Peer:
    """A connection that returns the replies up to an end mark, or up to the end of the stream."""

    MARK = b"$22\r\n--- end of replies ---\r\n"

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), 10)

    def exchange(self, data, marked=True):
        try:
            self.socket.sendall(data + array("ECHO", self.MARK[5:-2]) if marked else data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # an earlier request of `data` closed the connection
        received = b""
        while not received.endswith(self.MARK):
            try:
                more = self.socket.recv(1 << 16)
            except ConnectionResetError:
                more = b""
            if not more:
                return received + b"<closed>"
            received += more
        return received[:-len(self.MARK)]

    def close(self):
        self.socket.close()


class Differential(unittest.TestCase):
    maxDiff = 2000
    options = ()

    @classmethod
    def setUpClass(cls):
        cls.redis = cls.enterClassContext(Redis()) if hasattr(cls, "enterClassContext") else Redis().__enter__()
        cls.server = Program("resp_server", *cls.options).__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()
        if not hasattr(cls, "enterClassContext"):
            cls.redis.__exit__()

    def compare(self, requests):
        """Sends one request after another over one connection each, on empty databases."""
        theirs, ours = Peer(self.redis.port), Peer(self.server.port)
        try:
            for request in itertools.chain([array("FLUSHALL")], requests):
                left, right = ours.exchange(request), theirs.exchange(request)
                if left != right and not same_time(request, left, right):
                    self.assertEqual(left, right, request)
        finally:
            theirs.close()
            ours.close()

    def compare_streams(self, streams, marked=True):
        """Sends each stream over a new connection. The connection may end, and must end when no mark ends the
        replies."""
        for stream in streams:
            theirs, ours = Peer(self.redis.port), Peer(self.server.port)
            try:
                self.assertEqual(ours.exchange(stream, marked), theirs.exchange(stream, marked), stream[:100])
            finally:
                theirs.close()
                ours.close()

    def test_strings(self):
        self.compare(words("""
            GET a; SET a 1; get a; SeT a ''; GET a; SET '' emptykey; GET ''; SETNX a 2; SETNX b 2; GETSET a 3;
            GETSET new 3; MSET a 1 b 2 c 3 a 4; MGET a b c d; MSET a; MSET a 1 b; MSET; APPEND a xyz;
            APPEND fresh xyz; STRLEN a; STRLEN none; TYPE a; TYPE none; DEL a a none b; EXISTS c c none; DBSIZE;
            KEYS c; KEYS [bc]; KEYS nothing*; FLUSHDB; DBSIZE"""))

    def test_set_options(self):
        self.compare(words(f"""
            SET a 1 XX; SET a 1 NX; SET a 2 NX; SET a 2 nx get; SET a 3 XX GET; SET b 3 XX GET; SET a 3 NX XX;
            SET a 3 XX NX; SET a 3 GET GET; SET a 3 NX NX; SET a 3 bogus; SET a 3 ''; SET a 3 EX; SET a 3 EX 0;
            SET a 3 EX -1; SET a 3 EX x; SET a 3 EX 1.5; SET a 3 EX 01; SET a 3 EX +1; SET a 3 EX '';
            SET a 3 EX 9223372036854775807; SET a 3 EX 9223372036854775; SET a 3 EX 9223372036854775808;
            SET a 3 PX 9223372036854775807; SET a 3 PX 0; SET a 3 EX 10 PX 10; SET a 3 EX 10 EX 20;
            SET a 3 KEEPTTL EX 10; SET a 3 EX 10 KEEPTTL; SET a 3 KEEPTTL KEEPTTL; SET a 3 EXAT {FAR}; EXPIRE a x;
            SET a 4 keepttl; GET a; TTL none; SET a 5 EXAT 1; GET a; DBSIZE; SET a 5 PXAT 0; SET a 5 PXAT -1;
            SET a 5 EXAT 9223372036854776; SET a 5 PXAT 1 NX; SET a 5 PXAT 1 XX GET; SETEX a 0 1; SETEX a x 1;
            SETEX a -5 1; SETEX a 9223372036854775807 1; SETEX a 100 1; TTL a; GETSET a 2; TTL a; SET a 1 EX 100;
            TTL a; SET a 1; PTTL a"""))

    def test_counters(self):
        values = ["0", "-1", "41", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "x",
                  " 1", "1 ",
                  "01", "-0", "+1", "1.0", "", "1e3", "18446744073709551616"]
        self.compare(itertools.chain(words("INCR fresh; DECR fresh2; INCRBY fresh3 10; DECRBY fresh4 10; GET fresh4"),
                                     *([array("SET", "n", value), array("INCR", "n"), array("DECR", "n"),
                                        array("GET", "n"), array("INCRBY", "n", value), array("DECRBY", "n", value),
                                        array("GET", "n")] for value in values)))

    def test_expiry(self):
        self.compare(words("""
            TTL a; PTTL a; EXPIRE a 10; PERSIST a; SET a 1; TTL a; PTTL a; PERSIST a; EXPIRE a 100; TTL a;
            EXPIRE a 100 NX; EXPIRE a 50 GT; EXPIRE a 200 GT; TTL a; EXPIRE a 300 LT; EXPIRE a 150 lt xx; TTL a;
            PERSIST a; EXPIRE a 10 XX; EXPIRE a 10 GT; EXPIRE a 10 LT; EXPIRE a 10 NX XX; EXPIRE a 10 NX GT;
            EXPIRE a 10 NX LT; EXPIRE a 10 GT LT; EXPIRE a 10 bogus; EXPIRE a x bogus; EXPIRE a x;
            EXPIRE a 9223372036854775807; EXPIRE a 9223372036854776; EXPIRE a -9223372036854776;
            PEXPIRE a 9223372036854775807; PEXPIRE a 100000; TTL a; APPEND a x; TTL a; EXPIRE a 0; EXISTS a; SET a 1;
            PEXPIRE a -9223372036854775808; EXISTS a; SET a 1; EXPIRE a -1; DBSIZE"""))

    def test_keys_really_expire(self):
        self.compare(words("SET a 1 PX 20; SET b 1"))
        time.sleep(0.05)
        for peer in (Peer(self.redis.port), Peer(self.server.port)):
            self.assertEqual(peer.exchange(b"".join(words("GET a; TTL a; EXISTS a; SET a 2 XX; KEYS *"))),
                             b"$-1\r\n:-2\r\n:0\r\n$-1\r\n*1\r\n$1\r\nb\r\n")
            peer.close()

    def test_numbers_of_arguments(self):
        names = """append client config dbsize decr decrby del echo exists expire flushall flushdb get getset incr
            incrby keys mget mset persist pexpire ping pttl reset select set setex setnx strlen ttl type"""
        # A large number, which as a time to live outlasts the test.
        self.compare(array(*([name.upper()] + ["99999"] * count)) for name in names.split() for count in range(6)
                     if (name, count) not in (("client", 1), ("config", 1)))

    def test_connection_and_server(self):
        self.compare([array("ECHO", b"a\r\n\0b"), array("PING", b"\xff")] + words("""
            PING; SELECT 0; SELECT 1; SELECT -1; SELECT x; SELECT 2147483647; SELECT 2147483648;
            SELECT 99999999999999999999; FLUSHALL bogus; FLUSHALL async; FLUSHDB SYNC; FLUSHALL sync async; CLIENT;
            CLIENT foo; CLIENT GETNAME; CLIENT SETNAME; CLIENT SETNAME a b; CLIENT setname me; CLIENT GETNAME;
            CLIENT GETNAME x; CLIENT SETNAME ''; CLIENT GETNAME; CLIENT ID x; HELLO x; HELLO 4; HELLO 1; HELLO 2 foo;
            HELLO 2 SETNAME; HELLO 2 AUTH x; HELLO 2 AUTH a b; CONFIG; CONFIG foo; CONFIG GET; CONFIG GET save;
            CONFIG GET appendonly; CONFIG GET maxmemory; CONFIG GET maxmemory-policy; CONFIG GET databases;
            CONFIG GET proto-max-bulk-len; CONFIG GET nosuch; CONFIG SET a; COMMAND foo; COMMAND COUNT x;
            COMMAND DOCS foo; COMMAND INFO foo; COMMAND LIST foo; INFO nosuch; CONFIG RESETSTAT; RESET""") + [
                array("CLIENT", "SETNAME", "a b"), array("HELLO", "2", "SETNAME", "a b")])

    def test_unknown_commands(self):
        self.compare([array("foo"), array("foo", "a", "b"), array("FOO", "a\r\nb", "c'd"), array(""),
                      array("a\0b", "c\0d"),
                      array("GETT", "a"), array("GE", "a"), array("x" * 200, "y" * 100, "z" * 100, "w"),
                      array("x", "y" * 200), array("x\r\n", "y\r\n"), array("foo", *"abcdefghijklmnopqrstuvwxyz" * 2),
                      array("CONFIG", "x\r\ny"), array("CLIENT", "x" * 200), array("EXPIRE", "a", "1", "x\r\ny")])

    def test_inline_requests(self):
        self.compare([b"PING\r\n", b"PING\n", b"  ping   hello  \r\n", b"SET a \"x y\\n\\x41\\\"\" \r\n", b"GET a\r\n",
                      b"SET a 'it\\'s \\n'\r\nGET a\r\n", b"\r\n\n   \r\nPING\r\n", b"ECHO \"\"\r\n", b"\"\"\r\n",
                      b"ECHO a\tb\r\n", b"ECHO \"a\tb\"\r\n", b"ECHO a\"b\"\r\n", b"ECHO a\vb\r\n",
                      b"foo 'a b' \"c\"\r\n",
                      b"ECHO \"\\xzz\\q\\x4\"\r\n", b"*0\r\nPING\r\n", b"*-1\r\nPING\r\n", b"*-10\r\n\r\nPING\r\n",
                      b"ECHO " + b"x" * 60_000 + b"\r\n"])

    def test_what_ends_a_connection(self):
        self.compare_streams([
            b"QUIT\r\n", b"quit now please\r\n", b"PING\r\nQUIT\r\nPING\r\n", b"*1\r\n:1\r\n", b"*1\r\nx\r\n",
            b"*1\r\n\r\n",
            b"PING\r\n*2\r\n$4\r\nECHO\r\n+x\r\n", b"*x\r\n", b"*\r\n", b"*01\r\n", b"*+1\r\n", b"*1x\r\n",
            b"*2147483648\r\n",
            b"*99999999999999999999\r\n", b"*1\r\n$x\r\n", b"*1\r\n$-1\r\n", b"*1\r\n$\r\n", b"*1\r\n$01\r\n",
            b"*1\r\n$67108865\r\n", b"*1\r\n$99999999999999999999\r\n", b"GET \"a\r\n", b"GET 'a\r\n",
            b"GET \"a\"b\r\n",
            b"GET 'a'b\r\n", b"SET a 1\r\nGET \"\\\"\r\n"])
        self.compare_streams([b"x" * 100_000, b"*" + b"1" * 100_000, b"*1\r\n$" + b"1" * 100_000], marked=False)

    def test_what_is_not_looked_at(self):
        self.compare([b"*1\rx$4\rxPINGxx", b"*2\r\n$4\r\nECHO\r\n$1\r\na__*1\r\n$4\r\nPING\r\n"])

    def test_random_patterns(self):
        chosen = random.Random(2)

        def word(letters, most):
            return "".join(chosen.choices(letters, k=chosen.randrange(most)))

        keys = {"a" + word("abc-]^\\", 6) for _ in range(200)}  # ** does not match the empty key in Redis
        theirs, ours = Peer(self.redis.port), Peer(self.server.port)
        for peer in (theirs, ours):
            peer.exchange(array("FLUSHALL") + b"".join(array("SET", key, "") for key in keys))
        for _ in range(3000):
            request = array("KEYS", word("ab*?[]^-\\", 9))
            left, right = (sorted(peer.exchange(request).split(b"\r\n")) for peer in (ours, theirs))
            self.assertEqual(left, right, request)
        theirs.close()
        ours.close()

    def test_random_commands(self):
        chosen = random.Random(1)
        keys = ["a", "b", "c", ""]
        numbers = ["0", "1", "-1", "7", "x", "9223372036854775807", "-9223372036854775808", ""]
        options = ["NX", "XX", "GET", "KEEPTTL", "EX", "PX", "EXAT", "PXAT", FAR, "1000000", "x"]

        def seconds():  # in steps, and never equal to the others, so that GT and LT do not depend on a millisecond
            return str(chosen.randrange(100_050, 900_000, 100))

        def command():
            key, number = chosen.choice(keys), chosen.choice(numbers)
            kind = chosen.randrange(8)
            if kind == 0:
                return ["SET", key, number, *chosen.sample(options, chosen.randrange(4))]
            if kind == 1:
                return [chosen.choice(["INCR", "DECR", "GET", "STRLEN", "TTL", "PERSIST", "TYPE", "DEL", "EXISTS"]),
                        key]
            if kind == 2:
                return [chosen.choice(["INCRBY", "DECRBY", "APPEND", "GETSET", "SETNX"]), key, number]
            if kind == 3:
                time_to_live = chosen.choice([["EXPIRE", key, seconds()], ["PEXPIRE", key, seconds() + "000"],
                                              ["EXPIRE", key, "-1"], ["PEXPIRE", key, "0"], ["EXPIRE", key, "x"]])
                return [*time_to_live, *chosen.sample(["NX", "XX", "GT", "LT"], chosen.randrange(3))]
            if kind == 4:
                return ["MSET", *chosen.choices(keys + numbers, k=chosen.randrange(1, 7))]
            if kind == 5:
                return ["MGET", *chosen.choices(keys, k=chosen.randrange(1, 4))]
            if kind == 6:
                return [chosen.choice(["DEL", "EXISTS"]), *chosen.choices(keys, k=chosen.randrange(1, 4))]
            return ["SETEX", key, chosen.choice(["1000000", "0", "x"]), number]

        self.compare(array(*command()) for _ in range(3000))


class DifferentialOfShards(Differential):
    options = ("--threads", "3", "--accept", "one_acceptor")  # every loop gets connections


if __name__ == "__main__":
    unittest.main()
