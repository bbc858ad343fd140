"""Why parsers differ: each rule is a row of docs/http-parser-differences.md.

There is no rule for a request that both parsers accept with another method, target, version, body or trailer section.
Such a difference is how requests are smuggled, and a bug.
"""

import ipaddress
import re
from dataclasses import dataclass

START = rb"(?s)\A(?:\r\n)*"


@dataclass(frozen=True)
class Rule:
    """Explains differences of this kind with these peers, when `gyre` and `said` match the reasons of the two, and
    `seen` holds, so that the reason must be true. `seen` is a pattern to be found, or a function. It applies to the
    bytes from the beginning of the request on, or to the whole stream when one of the two stops before the request."""

    name: str
    peers: tuple
    kind: str
    seen: object
    gyre: str = ""
    said: str = ""

    def explains(self, difference):
        where = difference.stream if self.kind.endswith("stops") else difference.request
        return (difference.peer in self.peers and difference.kind == self.kind and difference.gyre.startswith(self.gyre)
                and re.search(self.said, difference.said) is not None
                and (self.seen(where) if callable(self.seen) else re.search(self.seen, where) is not None))


def lacks_end_of_chunk(request):
    """Returns whether the data of a chunk is followed by anything other than CR LF."""
    rest = request.lstrip(b"\r\n").partition(b"\r\n\r\n")[2]
    while line := re.match(rb"([0-9A-Fa-f]{1,15})[^\r\n]*\r\n", rest):
        size = int(line[1], 16)
        rest = rest[line.end() + size:]
        if size == 0:
            return False
        if not b"\r\n".startswith(rest[:2]):
            return True
        rest = rest[2:]
    return False


TOKEN = rb"[-!#$%&'*+.^_`|~0-9A-Za-z]+"
EXTENSIONS = re.compile(rb"(?:[ \t]*;[ \t]*" + TOKEN + rb"(?:[ \t]*=[ \t]*(?:" + TOKEN + rb"|"
                        rb"""\"(?:[\t !#-\[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*\"))?)*""")


def has_malformed_extension(request):
    """Returns whether the size of a chunk is followed by anything other than a chunk-ext of RFC 9112 §7.1.1."""
    extensions = re.findall(rb"(?i)\n[0-9a-f]{1,15}([ \t]*;[^\n]*)\r\n", request)
    return any(not EXTENSIONS.fullmatch(line) for line in extensions)


REG_NAME = rb"(?:[-._~!$&'()*+,;=0-9A-Za-z]|%[0-9A-Fa-f]{2})*"
HOST = re.compile(rb"(?P<name>" + REG_NAME + rb"|\[(?P<literal>[^]]*)\])(?P<port>:[0-9]*)?")
LATER_ADDRESS = re.compile(rb"[vV][0-9A-Fa-f]+\.[-._~!$&'()*+,;=:0-9A-Za-z]+")
ZONE = re.compile(rb"(?:%25(?:[-._~0-9A-Za-z]|%[0-9A-Fa-f]{2})+)?")


def is_ip_literal(text):
    """Returns whether the text may be in brackets: RFC 3986 §3.2.2, and zones of RFC 6874."""
    if LATER_ADDRESS.fullmatch(text):
        return True
    address, percent, zone = text.partition(b"%")
    try:
        ipaddress.IPv6Address(address.decode("ascii"))
    except ValueError:
        return False
    return ZONE.fullmatch(percent + zone) is not None


def is_host(text):
    """Returns whether the text is uri-host [ ":" port ] of RFC 9110 §7.2, with a TCP port of at most five digits, and
    no port after an empty host."""
    parts = HOST.fullmatch(text)
    if not parts:
        return False
    if parts["literal"] is not None and not is_ip_literal(parts["literal"]):
        return False
    port = (parts["port"] or b"")[1:]
    return len(port) <= 5 and int(port or b"0") < 65536 and (parts["port"] is None or parts["name"] != b"")


def has_invalid_host(request):
    """Returns whether a Host field of the request is invalid."""
    head = request.lstrip(b"\r\n").partition(b"\r\n\r\n")[0] + b"\r\n"
    return any(not is_host(value.strip(b" \t")) for value in re.findall(rb"(?i)\nhost:([^\r\n]*)\r\n", head))


BOTH, LLHTTP, H11 = ("llhttp", "h11"), ("llhttp",), ("h11",)


def stricter(name, peers, gyre, seen):
    return Rule(name, peers, "gyre-rejects", seen, gyre=gyre)


def laxer(name, peers, said, seen):
    return Rule(name, peers, "peer-rejects", seen, said=said)


BARE_RETURN = rb"\r(?!\n)"
LAST_CHUNK = rb"(?is)\n0+[ \t]*(?:;[^\n]*)?\r\n(?:.*\n)?"

RULES = [
    stricter("bare-line-feed", BOTH, "a line does not end", rb"(?<!\r)\n"),
    stricter("bare-return-before-request", LLHTTP, "the method", rb"\A[\r\n]*\r(?!\n)"),
    stricter("bare-return-as-line-end", LLHTTP, "the name of a header field", BARE_RETURN),
    stricter("bare-return-as-line-end", LLHTTP, "control character in the value", BARE_RETURN),
    stricter("bare-return-as-line-end", LLHTTP, "malformed or too large chunk size", BARE_RETURN),
    stricter("bare-return-as-line-end", LLHTTP, "malformed or too long chunk extension", BARE_RETURN),
    Rule("bare-return-as-line-end", LLHTTP, "gyre-waits", BARE_RETURN),
    stricter("spaces-in-request-line", LLHTTP, "malformed request target", START + rb"[^ \r\n]+ (?: |[^ \r\n]+  )"),
    stricter("length-of-method", H11, "the method is too long", START + rb"[^ \r\n]{33,} "),
    stricter("form-of-target", BOTH, "malformed request target", START + rb"(?:[^ \r\n]+ [^/ ]|CONNECT )"),
    stricter("bytes-of-target", LLHTTP, "malformed request target", START + rb"[^ \r\n]+ /[^ \r\n]*[^ \r\n!-~]"),
    stricter("fragment-in-target", BOTH, "malformed request target", START + rb"[^ \r\n]+ /[^ \r\n]*#"),
    stricter("request-without-version", LLHTTP, "malformed HTTP version",
             START + rb"[^ \r\n]+ [^ \r\n]*\r\n"),
    stricter("other-protocols", LLHTTP, "malformed HTTP version", rb" (?:RTSP|ICE)/\d\.\d\r\n"),
    stricter("other-versions", BOTH, "unsupported HTTP version", rb" HTTP/[02-9]\.\d\r\n"),
    stricter("host-missing", BOTH, "missing Host field", rb"(?is)\A(?:(?!\r\n\r\n|\nhost:).)*\r\n\r\n"),
    stricter("host-repeated", LLHTTP, "more than one Host field", rb"(?is)\nhost:.*\nhost:"),
    stricter("syntax-of-host", BOTH, "malformed Host", has_invalid_host),
    stricter("host-that-is-empty", BOTH, "empty Host field", rb"(?i)\nhost:[ \t]*\r\n"),
    stricter("folded-line", BOTH, "a header field is folded", rb"\n[ \t]"),
    stricter("space-before-colon", LLHTTP, "white space between", rb"\n[^:\r\n]*[ \t]+:"),
    stricter("space-in-field-name", LLHTTP, "white space between", rb"\n[^:\r\n]*[ \t][^:\r\n]*:"),
    stricter("field-without-name", LLHTTP, "the name of a header field", rb"\n:"),
    stricter("control-characters-in-field", H11, "control character in the value",
             rb":[^\r\n]*[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]"),
    stricter("length-as-list", H11, "malformed or repeated Content-Length",
             rb"(?is)\ncontent-length:(?:[^\r\n]*,|.*\ncontent-length:)"),
    stricter("length-and-encoding", H11, "both Content-Length", rb"(?is)\ntransfer-encoding:.*\ncontent-length:|"
                                                          rb"\ncontent-length:.*\ntransfer-encoding:"),
    stricter("encoding-in-http-1.0", BOTH, "malformed Transfer-Encoding",
             rb"(?is)HTTP/1\.0\r\n.*\ntransfer-encoding:"),
    stricter("encoding-that-is-empty", LLHTTP, "malformed Transfer-Encoding",
             rb"(?i)\ntransfer-encoding:[ ,\t]*\r\n"),
    stricter("encoding-that-is-unknown", LLHTTP, "unknown Transfer-Encoding",
             rb"(?i)\ntransfer-encoding:(?![ \t]*chunked[ \t]*\r)"),
    stricter("expectation-that-is-unknown", BOTH, "unknown expectation",
             rb"(?i)\nexpect:(?![ \t]*100-continue[ \t]*\r)"),
    stricter("space-behind-chunk-size", H11, "malformed or too large chunk size", rb"(?i)\n[0-9a-f]+[ \t]+\r\n"),
    stricter("digits-of-chunk-size", BOTH, "malformed or too large chunk size", rb"(?i)\n[0-9a-f]{16,}"),
    stricter("control-characters-in-extension", H11, "malformed or too long chunk extension",
             rb"\n[^\n]*;[^\n]*[\x00-\x08\x0b-\x1f\x7f]"),
    stricter("syntax-of-extension", BOTH, "malformed or too long chunk extension", has_malformed_extension),
    stricter("end-of-chunk", BOTH, "chunk data does", lacks_end_of_chunk),
    laxer("empty-lines-before-request", H11, "no request line", rb"\A\r\n"),
    laxer("methods-that-are-unknown", LLHTTP, "METHOD",
          START + rb"(?!(?:GET|HEAD|POST|PUT|DELETE|CONNECT|OPTIONS|TRACE|PATCH) )[-!#$%&'*+.^_`|~0-9A-Za-z]+ "),
    laxer("method-of-http-2", LLHTTP, "VERSION", START + rb"PRI "),
    laxer("minor-versions", LLHTTP, "VERSION", rb" HTTP/1\.[2-9]\r\n"),
    laxer("empty-elements-in-encoding", BOTH, "Only Transfer-Encoding|INVALID_TRANSFER_ENCODING",
          rb"(?i)\ntransfer-encoding:(?:[^\r\n]*,)?[ \t]*(?:,|chunked[ \t]*,)"),
    laxer("space-before-extension", BOTH, "illegal chunk header|CHUNK_SIZE", rb"(?i)\n[0-9a-f]+[ \t]+;"),
    laxer("spaces-and-escapes-in-extension", LLHTTP, "STRICT", rb"(?i)\n[0-9a-f]+(?=;)[^\r\n]*(?:[;=][ \t]|[ \t]=|\\)"),
    laxer("tab-behind-length", LLHTTP, "INVALID_CONTENT_LENGTH", rb"(?i)\ncontent-length:[ \t]*[0-9]+ *\t[ \t]*\r\n"),
    Rule("tab-behind-option", LLHTTP, "gyre-stops", rb"(?i)\nconnection:(?:[^\r\n]*,)?[ \t]*close *\t[ \t]*(?:,|\r\n)"),
    Rule("tab-behind-option", LLHTTP, "peer-stops",
         rb"(?is) HTTP/1\.0\r\n.*\nconnection:(?:[^\r\n]*,)?[ \t]*keep-alive *\t[ \t]*(?:,|\r\n)"),
    laxer("framing-in-trailers", BOTH, "INVALID_TRANSFER_ENCODING|CONTENT_LENGTH|Transfer-Encoding|Content-Length",
          LAST_CHUNK + rb"(?:transfer-encoding|content-length):"),
    Rule("framing-in-trailers", LLHTTP, "peer-stops", LAST_CHUNK + rb"connection:.*close"),
    Rule("case-of-encoding", H11, "fields", rb"(?i:\ntransfer-encoding:)[^\r\n]*[A-Z]"),
    Rule("keep-alive-in-http-1.0", H11, "peer-stops", rb"(?is) HTTP/1\.0\r\n.*\nconnection:.*keep-alive"),
    Rule("close-and-keep-alive", LLHTTP, "gyre-stops",
         rb"(?is) HTTP/1\.0\r\n.*\nconnection:.*(?:close.*keep-alive|keep-alive.*close)"),
]


def explain(difference):
    """Returns the name of the rule, or None."""
    return next((rule.name for rule in RULES if rule.explains(difference)), None)
