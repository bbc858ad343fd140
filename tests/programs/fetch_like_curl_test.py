"""gyre fetch and curl get the same from 500 responses, regular and odd ones: status, fields and body, or an error."""

import concurrent.futures
import functools
import gzip
import os
import random
import re
import tempfile
import time
import unittest
import zlib
from pathlib import Path

from scripted import Scripted, read_head
from support import BIN, run, skip_without

CASES = 500
SEED = int(os.environ.get("GYRE_TEST_SEED", "1"))

# Responses that gyre refuses and curl accepts, each with the rule of RFC 9112 that demands or allows it.
STRICTER = {
    "different lengths": "§6.3: different lengths are an error that cannot be repaired",
    "both framings": "§6.3: a response with Content-Length and Transfer-Encoding may be an attack",
    "space before colon": "§5.1: a proxy removes the space; gyre refuses the response",
    "strange name": "§5.1: a field name is a token",
    "control in value": "RFC 9110 §5.5: control characters in a value are invalid",
    "bad trailer": "§7.1.2: trailers are fields",
    "unknown coding": "§6.1: chunked has to be the last transfer coding",
    "length with plus": "RFC 9110 §8.6: a length consists of digits",
    "extra after chunk size": "§7.1: only an extension follows the size",
}


def chunked(body, generator, size_text="{:x}", trailer=b""):
    parts = []
    while body:
        count = generator.randint(1, 1 + len(body))
        piece, body = body[:count], body[count:]
        parts.append(size_text.format(len(piece)).encode() + b"\r\n" + piece + b"\r\n")
    return b"".join(parts) + b"0\r\n" + trailer + b"\r\n"


def field_lines(generator):
    names = ["X-A", "x-b", "SERVER", "ETag", "Set-Cookie", "Vary", "X-" + "n" * 40, "!#$%&'*+-.^_`|~9"]
    values = ["", "a", "a b", "a=b; c", "\"q\"", "\t tabs \t", "é".encode().decode("latin-1"), "v" * 500, "x, y", "::"]
    for _ in range(generator.randint(0, 6)):
        separator = generator.choice([": ", ":", ":\t ", ":  "])
        yield f"{generator.choice(names)}{separator}{generator.choice(values)}".encode("latin-1")


@functools.cache
def made(number):
    """Returns the bytes of a response, whether the connection closes after it, and its kind."""
    generator = random.Random(SEED * 100_000 + number)
    body = bytes(generator.choices(b"abc\r\n\0\xff0", k=generator.choice([0, 1, 5, 300, 20_000])))
    kind = generator.choice(["length", "length", "chunks", "chunks", "end", "end 1.0", "none", "interim", "gzip",
                             "deflate", "short length", "cut chunks", "no last chunk", "bad chunk size",
                             "extension", "trailer", "no reason", "lower 1.1", "bare line feed", "folded field",
                             "equal lengths", "chunk size with spaces", "large head", *STRICTER])
    status = generator.choice([200, 200, 201, 206, 299, 400, 404, 418, 500, 503, 599])
    version, reason, lines, closes = "1.1", " OK", list(field_lines(generator)), True
    before, end = b"", b"\r\n"
    length = b"Content-Length: %d" % len(body)
    te = b"Transfer-Encoding: chunked"
    payload = body
    if kind in ("length", "interim", "no reason", "lower 1.1"):
        lines.append(length)
    if kind == "chunks":
        lines.append(generator.choice([te, b"transfer-encoding:Chunked"]))
        payload = chunked(body, generator, generator.choice(["{:x}", "{:X}", "000{:x}"]))
    elif kind == "extension":
        lines.append(te)
        payload = chunked(body, generator, "{:x};name=value;flag")
    elif kind == "trailer":
        lines.append(te)
        payload = chunked(body, generator, trailer=b"X-After: 1\r\n")
    elif kind == "end 1.0":
        version = "1.0"
    elif kind == "none":
        status, payload = generator.choice([204, 304]), b""
    elif kind == "interim":
        before = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * generator.randint(1, 3)
    elif kind in ("gzip", "deflate"):
        payload = gzip.compress(body) if kind == "gzip" else zlib.compress(body)
        lines += [b"Content-Encoding: " + kind.encode(), b"Content-Length: %d" % len(payload)]
    elif kind == "short length":
        lines.append(b"Content-Length: %d" % (len(body) + generator.randint(1, 100)))
    elif kind == "cut chunks":
        lines.append(te)
        payload = chunked(body + b"x", generator)[:-generator.randint(6, 8)]
    elif kind == "no last chunk":
        lines.append(te)
        payload = b"%x\r\n" % (len(body) + 1) + body + b"x\r\n"
    elif kind == "bad chunk size":
        lines.append(te)
        payload = generator.choice([b"xyz", b"-1", b"", b"fffffffffffffffff", b"g"]) + b"\r\n" + body + b"\r\n0\r\n\r\n"
    elif kind == "different lengths":
        lines += [length, b"Content-Length: %d" % (len(body) + 1)]
    elif kind == "no reason":
        reason = generator.choice(["", " "])
    elif kind == "both framings":
        lines += [length, te]
        payload = chunked(body, generator)
    elif kind == "bare line feed":
        lines.append(length)
        end = b"\n"
    elif kind == "folded field":
        lines += [b"X-F: a\r\n b", length]
    elif kind == "space before colon":
        lines += [b"X-S : a", length]
    elif kind == "strange name":
        lines += [generator.choice([b"X(): a", b"X\xe9: a", b": a"]), length]
    elif kind == "control in value":
        lines += [b"X-C: a\x01b", length]
    elif kind == "large head":
        lines += [length, *[b"X-%d: %b" % (each, b"v" * 400) for each in range(generator.randint(100, 300))]]
    elif kind == "equal lengths":
        lines += [length, length]
    elif kind == "chunk size with spaces":
        lines.append(te)
        payload = chunked(body + b"x", generator, "{:x}  ")
    elif kind == "bad trailer":
        lines.append(te)
        payload = chunked(body, generator, trailer=b"no colon\r\n")
    elif kind == "unknown coding":
        lines.append(b"Transfer-Encoding: cow")
    elif kind == "length with plus":
        lines.append(b"Content-Length: +%d" % len(body))
    elif kind == "extra after chunk size":
        lines.append(te)
        payload = chunked(body + b"x", generator, "{:x}zz")
    generator.shuffle(lines)
    start = f"HTTP/{version} {status}{reason}".encode()
    head = end.join([start, *lines]) + end + end
    return before + head + payload, closes, kind


def serve(peer, _):
    head = read_head(peer)
    number = int(re.match(r"GET /(\d+) ", head).group(1))
    data, _, _ = made(number)
    generator = random.Random(number)
    if generator.random() < 0.5:
        peer.sendall(data)
        return
    for _ in range(5):  # the rest follows at once
        count = generator.randint(1, max(1, min(300, len(data))))
        peer.sendall(data[:count])
        data = data[count:]
        time.sleep(0)
    peer.sendall(data)


def understood(output):
    """The status, the fields and the body of the last head in an output with -i."""
    while True:
        end = re.search(rb"\r?\n\r?\n", output)  # curl prints lines as they came
        head, body = output[:end.start()], output[end.end():]
        lines = re.split(rb"\r?\n", re.sub(rb"\r\n(?=[ \t])", b"  ", head))
        status = int(lines[0].split(b" ")[1])
        if status >= 200:
            break
        output = body
    fields = []
    for line in lines[1:]:
        name, _, value = line.partition(b":")
        fields.append((name.lower(), value.strip(b" \t")))
    return status, fields, body


def by_curl(base):
    """One process makes many requests; curl ends early after some errors. Returns for each response whether it was
    accepted, and its text."""
    codes = []
    with tempfile.TemporaryDirectory() as folder:
        while len(codes) < CASES:
            done = run("curl", "-q", "-s", "-i", "--compressed", "--max-time", "20", "--noproxy", "*", "-o",
                       f"{folder}/#1", "-w", "%{exitcode}\\n", f"{base}/[{len(codes)}-{CASES - 1}]", timeout=150)
            if not done.stdout:
                raise AssertionError(f"curl made no request: {done.returncode}")
            codes += done.stdout.split()
        files = [Path(folder, str(number)) for number in range(CASES)]
        return [(code == b"0", file.read_bytes() if file.exists() else b"")
                for code, file in zip(codes, files, strict=True)]


def by_gyre(url):
    done = run(BIN / "gyre", "fetch", "-i", "--silent", "--max-time", "20", url)
    return done.returncode in (0, 22), done.stdout, done.stderr.decode("latin-1")


class LikeCurl(unittest.TestCase):
    maxDiff = 2000

    def test_responses_are_understood_alike(self):
        with Scripted(serve) as server, concurrent.futures.ThreadPoolExecutor(4) as pool:
            base = f"http://127.0.0.1:{server.port}"
            curls = pool.submit(by_curl, base)
            gyres = list(pool.map(by_gyre, [f"{base}/{number}" for number in range(CASES)]))
            both = list(zip(curls.result(), gyres, strict=True))
        stricter = 0
        for number, (curl, gyre) in enumerate(both):
            data, _, kind = made(number)
            with self.subTest(kind=kind, number=number, sent=data[:300], error=gyre[2]):
                if curl[0] and not gyre[0] and kind in STRICTER:
                    stricter += 1
                    continue
                self.assertEqual(gyre[0], curl[0], "one of them reports an error")
                if curl[0]:
                    status, fields, body = understood(gyre[1])
                    expected_status, expected_fields, expected_body = understood(curl[1])
                    self.assertEqual((status, fields), (expected_status, expected_fields))
                    if kind == "trailer":  # curl -i prints it
                        expected_body = expected_body.removesuffix(b"X-After: 1\r\n")
                    self.assertTrue(body == expected_body, f"{body[:100]} instead of {expected_body[:100]}")
        print(f"{CASES} responses; gyre alone refused {stricter} malformed ones")
        self.assertLess(stricter, CASES // 2)


skip_without("curl")
if __name__ == "__main__":
    unittest.main()
