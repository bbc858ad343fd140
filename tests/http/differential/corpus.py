"""Streams of requests, valid and hostile, and a generator of more of them."""

import random

HEAD = b"Host: a\r\n"
NEXT = b"GET /next HTTP/1.1\r\nHost: a\r\n\r\n"


def get(line=b"GET / HTTP/1.1", fields=HEAD):
    return line + b"\r\n" + fields + b"\r\n"


def post(fields, body=b"", line=b"POST / HTTP/1.1"):
    return line + b"\r\n" + HEAD + fields + b"\r\n" + body + NEXT


def chunked(body, coding=b"chunked"):
    return post(b"Transfer-Encoding: " + coding + b"\r\n", body)


METHODS = [b"GET", b"HEAD", b"DELETE", b"OPTIONS", b"PATCH", b"M-SEARCH", b"FOO", b"get", b"G ET", b"G\tET", b"",
           b"G(ET",
           b"\xc3\xa4", b"GET\0", b"PRI", b"TRACE", b"QUERY", b"A" * 40, b"\"GET\"", b"G:ET"]
TARGETS = [b"/", b"/a?b=c&d", b"*", b"a", b"http://a/", b"http://a", b"HTTP://a:80/x?y", b"https://b/", b"ftp://a/",
           b"//a/b", b"http://:80/x",
           b"/a b", b"/a\tb", b"/a#b", b"/\xc3\xa4", b"/\x01", b"/\x7f", b"/\0", b"/%zz", b"", b"?a", b"/a\rb",
           b"/a\x0bb",
           b"http:///a", b"http://a@b/", b"http://[::1]:8/", b"/" + b"a" * 7000, b"/../..", b"\\a", b"/\"<>^`{|}",
           b"a:80",
           b"http://a b/", b"/?\\", b"http://", b"http://?a"]
VERSIONS = [b"HTTP/1.1", b"HTTP/1.0", b"HTTP/1.2", b"HTTP/1.9", b"HTTP/2.0", b"HTTP/0.9", b"HTTP/1", b"HTTP/1.",
            b"HTTP/1.10",
            b"HTTP/01.1", b"HTTP/1.1 ", b"http/1.1", b"HTTP /1.1", b"HTTP/1,1", b"HTTPS/1.1", b"", b"HTTP/+1.1",
            b"\tHTTP/1.1",
            b"HTTP/1.1\t", b"HTTP/1.1\0", b"RTSP/1.0", b"ICE/1.0", b"HTTP/3.1"]
HOSTS = [b"", b"a", b"a:80", b"a:", b"a:b", b"[::1]", b"[::1]:80", b"[::1", b"a b", b"a,b", b"a/b", b"a@b", b"a:1:2",
         b"\xc3\xa4", b":80", b":",
         b"a\tb", b"%41", b"a:99999999", b"a?b", b"a#b", b"[v1.x]", b"<a>", b"a\\b",
         b"a:65535", b"a:65536", b"a:000080", b"[fe80::1%25eth0]:80", b"[fe80::1%eth0]", b"[::ffff:1.2.3.4]",
         b"[1.2.3.4]", b"[1:2:3:4:5:6:7::]", b"[::1]a", b"[v1.]", b"a%zz", b"a_b~:1", b"*"]
LENGTHS = [b"0", b"3", b"03", b"+3", b"-3", b"3 ", b" 3", b"\t3", b"3\t", b"3,3", b"3, 3", b"3, 4", b"0x3", b"3a", b"",
           b"3.0", b"1e1",
           b"9223372036854775807", b"9223372036854775808", b"18446744073709551615", b"18446744073709551616",
           b"18446744073709551619", b"99999999999999999999999", b"3\0", b"3\x0b", b"3;", b"\"3\"", b"\xd9\xa3", b"3 3",
           b"1_0"]
CODINGS = [b"chunked", b"Chunked", b"chunked ", b"\tchunked", b"\x0bchunked", b"chunked\x0b", b"chunke", b"xchunked",
           b"chunkedx",
           b"chunked, chunked", b"gzip, chunked", b"chunked, gzip", b"gzip", b"identity", b"identity, chunked", b"",
           b",chunked",
           b"chunked,", b", ,chunked , ,", b"chunked;a=b", b"\"chunked\"", b"chunked\0", b"chunked identity",
           b"trailers, chunked",
           b"cow", b"chunked,identity", b"chun\xc4\xb1ked", b"chunked\r\n ", b"\r\n chunked"]
CHUNKS = [b"3\r\nabc\r\n0\r\n\r\n", b"10\r\n0123456789abcdef\r\n1\r\nx\r\n0\r\n\r\n",
          b"A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n",
          b"1F;a\r\n" + b"x" * 31 + b"\r\n0\r\n\r\n", b"123\r\n" + b"x" * 291 + b"\r\n00\r\n\r\n", b"0\r\n\r\n",
          b"03\r\nabc\r\n00\r\n\r\n", b"3;a=b\r\nabc\r\n0;c\r\n\r\n",
          b"3 ;a\r\nabc\r\n0\r\n\r\n", b"3 \r\nabc\r\n0\r\n\r\n", b"3\t\r\nabc\r\n0\r\n\r\n", b" 3\r\nabc\r\n0\r\n\r\n",
          b"0x3\r\nabc\r\n0\r\n\r\n", b"+3\r\nabc\r\n0\r\n\r\n", b"-3\r\nabc\r\n0\r\n\r\n", b"3\nabc\r\n0\r\n\r\n",
          b"3\r\nabc\n0\r\n\r\n", b"3\r\nabc\r\n0\n\r\n", b"3\r\nabc\r\n0\r\n\n", b"3\rabc\r\n0\r\n\r\n",
          b"3\r\nabc0\r\n\r\n",
          b"3\r\nabcd\r\n0\r\n\r\n", b"3\r\nabcxx0\r\n\r\n", b"3\r\nab\r\n0\r\n\r\n", b"\r\n\r\n", b"g\r\n\r\n",
          b";a\r\n\r\n",
          b"3;a=\"b;c\"\r\nabc\r\n0\r\n\r\n", b"3;a=\"b\r\nc\"\r\nabc\r\n0\r\n\r\n", b"3;a\nb\r\nabc\r\n0\r\n\r\n",
          b"3;a\rb\r\nabc\r\n0\r\n\r\n", b"3;\r\nabc\r\n0\r\n\r\n", b"3;=\r\nabc\r\n0\r\n\r\n",
          b"3;a=\r\nabc\r\n0\r\n\r\n",
          b"3;a\0\r\nabc\r\n0\r\n\r\n", b"3; a = b\r\nabc\r\n0\r\n\r\n", b"3;a b\r\nabc\r\n0\r\n\r\n",
          b"3,a\r\nabc\r\n0\r\n\r\n",
          b"100000003\r\nabc\r\n0\r\n\r\n", b"10000000000000003\r\nabc\r\n0\r\n\r\n",
          b"ffffffffffffffff\r\nabc\r\n0\r\n\r\n",
          b"00000000000000000003\r\nabc\r\n0\r\n\r\n", b"0\r\nA: b\r\n\r\n", b"0\r\nA : b\r\n\r\n",
          b"0\r\n A: b\r\n\r\n",
          b"0\r\nA: b\n\r\n", b"0\r\nContent-Length: 5\r\n\r\n", b"0\r\nContent-Length: x\r\n\r\n",
          b"0\r\nConnection: close\r\n\r\n",
          b"0\r\nTransfer-Encoding: gzip\r\n\r\n", b"3;a\rb\rbc\r\n0\r\n\r\n",
          b"0\r\nTransfer-Encoding: chunked\r\n\r\n", b"0\r\nA\r\n\r\n",
          b"0\r\nA: b\r\n c\r\n\r\n", b"0\r\nHost: b\r\n\r\n", b"0\r\n", b"0", b"3\r\nabc\r\n",
          b"3_0\r\nabc\r\n0\r\n\r\n",
          b"3\r\nabc\r\n0\r\n\r", b"3\r\n\r\n\r\n\r\n0\r\n\r\n", b"3;a=\xc3\xa4\r\nabc\r\n0\r\n\r\n",
          b"3\0\r\nabc\r\n0\r\n\r\n",
          b"3;a=\"\\\"\"\r\nabc\r\n0\r\n\r\n", b"0;a\r\n\r\n", b"0 \r\n\r\n", b"0\r\nA:\r\n\r\n", b"0\r\n: b\r\n\r\n",
          b"3\r\nabc\r\n0\r\n\rX", b"3\r\nabc\r\n\r\n0\r\n\r\n", b"3;" + b"a" * 500 + b"\r\nabc\r\n0\r\n\r\n"]
FIELDS = [b"A: b", b"A:b", b"A:", b"A: ", b"A:\t b \t", b"A : b", b"A\t: b", b" A: b", b"\tA: b", b"A: b\r\n c",
          b"A: b\r\n\tc",
          b"A: b\r\n ", b"A", b"A b", b": b", b"", b"A: b\nC: d", b"A: b\rC: d", b"A: b\r\r\nC: d", b"A: \0",
          b"A: b\x01", b"A: b\x7f",
          b"A: b\x0b", b"A: \xc3\xa4", b"A\0: b", b"\xc3\xa4: b", b"A(: b", b"A\x0b: b", b"A: b\x0cc", b"A_b: c",
          b"A.b: c",
          b"\"A\": b", b"A,B: c", b"A;: b", b"A/: b", b"A: b\r", b"\rA: b", b"\nA: b", b"A:: b", b"A: :b", b"{: b",
          b"A: " + b"x" * 9000,
          b"A: b\xff", b"A\r\n: b", b"A: \x1b", b"~!#$%&'*+-.^_`|: x", b"\x85A: b", b"A: \xa0", b"A: b\x0b\x0b",
          b"A:\x0b\x0bb",
          b"A:\x0cb\x0c", b"A: \xa0b\xa0", b"A\xa0: b"]
CONNECTIONS = [b"close", b"keep-alive", b"Close", b"close, keep-alive", b"keep-alive, close", b"x, close", b"closex",
               b"upgrade",
               b"\"close\"", b",close,", b"close;", b"", b"close\t", b"\tclose", b"close \t", b"close\t, x",
               b"x,\tclose", b"keep-alive\t", b"\tkeep-alive",
               b"keep-alive\r\nConnection: close", b"close close"]
EXPECTATIONS = [b"100-continue", b"100-Continue", b"200-ok", b"100-continue, x", b""]
# Combinations of significant fields, and other fields that have been used for smuggling.
FRAMINGS = [b"Content-Length: 3\r\nTransfer-Encoding: chunked", b"Transfer-Encoding: chunked\r\nContent-Length: 3",
            b"Content-Length: 3\r\nContent-Length: 3", b"Content-Length: 3\r\nContent-Length: 4",
            b"Content-Length: 0\r\nContent-Length: 3", b"Content-Length: 3\r\ncontent-length: 03",
            b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
            b"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked",
            b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
            b"Transfer-Encoding: identity\r\nContent-Length: 3",
            b"Transfer-Encoding : chunked", b"Transfer-Encoding\t: chunked", b"Content-Length : 3",
            b"Transfer_Encoding: chunked",
            b"Content_Length: 3", b"X: y\nTransfer-Encoding: chunked", b"X: y\rTransfer-Encoding: chunked",
            b"X: y\r\n Transfer-Encoding: chunked", b" Content-Length: 3", b"\x0bTransfer-Encoding: chunked",
            b"Content-Length: 3\r\nTransfer-Encoding: cow", b"Content-Length: 3\r\nTransfer-Encoding:",
            b"Content-Length:\r\nContent-Length: 3", b"Transfer-Encoding:\r\n chunked", b"Content-Length: 3\r\nHost: b",
            b"Content-Length: 3\0", b"Content-Length\0: 3", b"\0Content-Length: 3", b"Content-Length: 3\r\n\rX: y",
            b"Content-Length:\r\n 3", b"Transfer-Encoding: chunked\r\n\tX: y",
            b"Content-Length: 3\r\nUpgrade: x\r\nConnection: upgrade",
            b"Transfer-Encoding\xa0: chunked", b"Transfer-Encoding: chunked\xa0", b"Transfer-Encoding: \xa0chunked"]
STARTS = [b"\r\n", b"\r\n\r\n", b"\n", b"\r", b" ", b"\t", b"\0", b"\r\n ", b"\xef\xbb\xbf", b"\r\r\n", b"X\r\n"]
BODIES = [b"abc", b"3\r\nabc\r\n0\r\n\r\n"]


def corpus():
    """Returns the streams, without duplicates."""
    streams = [b"", b"\r\n", b"GET", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\n\r\n", b"GET /\r\n\r\n",
               b"GET / HTTP/1.0\r\n\r\n" + NEXT,
               b"\x16\x03\x01\x02", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", get().replace(b"\r\n", b"\n"),
               get().replace(b"\r\n", b"\r"),
               NEXT * 3, get(b"GET  / HTTP/1.1"), get(b"GET /  HTTP/1.1"), get(b"GET /  RTSP/1.0"),
               get(b"GET / HTTP/1.1 "), get(b" GET / HTTP/1.1"),
               get(b"GET\t/\tHTTP/1.1"), get(b"GET / HTTP/1.1\r"), get(b"GET / HTTP/1.1 x"), get(b"GET / x HTTP/1.1"),
               get(b"GET / HTTP/1.1", b"".join(b"A%d: b\r\n" % i for i in range(90)) + HEAD)]
    streams += [get(method + b" / HTTP/1.1") + NEXT for method in METHODS]
    streams += [get(b"GET " + target + b" HTTP/1.1") + NEXT for target in TARGETS]
    streams += [get(b"OPTIONS * HTTP/1.1") + NEXT, get(b"OPTIONS / HTTP/1.1") + NEXT]
    streams += [get(b"CONNECT " + target + b" HTTP/1.1") + NEXT for target in (b"a:80", b"a", b"/", b"[::1]:80",
                b"http://a/", b":80")]
    streams += [get(b"GET / " + version) + NEXT for version in VERSIONS]
    streams += [get(fields=b"Host:" + host + b"\r\n") + NEXT for host in HOSTS]
    streams += [get(fields=b"") + NEXT, get(fields=HEAD * 2), get(fields=HEAD + b"Host: b\r\n"),
                get(fields=b"Host : a\r\n")]
    streams += [post(b"Content-Length:" + length + b"\r\n", b"abc") for length in LENGTHS]
    streams += [chunked(body) for body in CHUNKS]
    streams += [chunked(b"3\r\nabc\r\n0\r\n\r\n", coding) for coding in CODINGS]
    streams += [post(field + b"\r\n") for field in FIELDS]
    streams += [get(line, HEAD + b"Connection: " + option + b"\r\n") + NEXT
                for line in (b"GET / HTTP/1.1", b"GET / HTTP/1.0") for option in CONNECTIONS]
    streams += [post(b"Content-Length: 3\r\nExpect: " + expectation + b"\r\n", b"abc") for expectation in EXPECTATIONS]
    streams += [post(framing + b"\r\n", body) for framing in FRAMINGS for body in BODIES]
    streams += [post(b"Transfer-Encoding: chunked\r\n", BODIES[1], b"POST / HTTP/1.0"), post(b"Content-Length: 3\r\n",
                b"abc", b"GET / HTTP/1.1"),
                post(b"Content-Length: 3\r\n", b"abc", b"POST / HTTP/1.0"), post(b"Content-Length: 3\r\n", b"abc",
                b"HEAD / HTTP/1.1"),
                post(b"", b"abc"), post(b"Content-Length: 30\r\n", b"abc")]
    streams += [start + NEXT for start in STARTS]
    return list(dict.fromkeys(streams))


PIECES = [b"\r\n", b"\n", b"\r", b" ", b"\t", b"\0", b":", b",", b";", b"\x0b", b"\x0c", b"\x7f", b"\x80", b"\xa0",
          b"\xff", b"0", b"1", b"9", b"a", b"-", b"+",
          b"\"", b"\\", b"/", b"#", b"?", b"%", b"=", b"\r\n ", b"chunked", b"Content-Length: 3\r\n",
          b"Transfer-Encoding: chunked\r\n",
          b"Host: b\r\n", b"\r\n\r\n", b"0\r\n\r\n", b"HTTP/1.1", b"GET ", b"Connection: close\r\n"]


def mutate(stream, chance):
    """Returns the stream with one to three changes."""
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3))):
        at = chance.randrange(len(stream) + 1)
        size = chance.choice((0, 0, 0, 1, 1, 2, 5))
        piece = chance.choice((b"", bytes([chance.randrange(256)]), chance.choice(PIECES),
                               stream[at:at + chance.randrange(1, 20)]))
        stream = stream[:at] + piece + stream[at + size:]
    return stream


def mutations(count, seed):
    """Returns that many changed streams, the same for the same seed."""
    chance = random.Random(seed)
    short = [stream for stream in corpus() if 10 < len(stream) < 400]
    return list(dict.fromkeys(mutate(chance.choice(short), chance) for _ in range(count)))
