"""The requests of the comparison. Each is sent on a connection of its own, as the bytes that are written here."""

from dataclasses import dataclass

FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Case:
    name: str
    target: str
    method: str = "GET"
    fields: str = ""
    body: bytes = b""
    announced: int | None = None  # the length in the head, when the client pauses before the end of the body
    compared: tuple = ()          # fields of the response, besides its status and the body of a success

    def head(self):
        length = len(self.body) if self.announced is None else self.announced
        fields = self.fields
        if (length or self.method in ("POST", "PUT", "PATCH")) and "ransfer-" not in fields:
            fields += f"Content-Length: {length}\r\n"
        return f"{self.method} {self.target} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n{fields}\r\n".encode(
            "latin-1")


def get(name, target, fields="", compared=()):
    return Case(name, target, "GET", fields, compared=compared)


def form(name, body, kind=FORM):
    return Case(name, "/form", "POST", f"Content-Type: {kind}\r\n" if kind else "", body)


ROUTES = [
    get("a route", "/hello", compared=("content-type",)),
    Case("HEAD of a route of GET", "/hello", "HEAD"),
    Case("another method than that of the route", "/hello", "POST", compared=("allow",)),
    Case("a method that nobody knows", "/hello", "BREW"),
    get("a path without a route", "/nothing"),
    Case("another method on a path without a route", "/nothing", "POST"),
    get("a slash too many at the end", "/hello/"),
    get("a slash too many at the beginning", "//hello"),
    get("another case", "/HELLO"),
    get("the host in the target", "http://127.0.0.1/hello"),
    get("an encoded letter of a route", "/hell%6F"),
    get("a query that the route does not read", "/hello?a=%zz&b"),
    get("a parameter", "/users/ann"),
    get("a parameter with an encoded space", "/users/a%20b"),
    get("a parameter with a plus", "/users/a+b"),
    get("a parameter with an encoded slash", "/users/a%2Fb"),
    get("a parameter in UTF-8", "/users/%C3%A9"),
    get("a parameter with an encoded percent sign", "/users/%2525"),
    get("a parameter that is not encoded correctly", "/users/%zz"),
    get("a parameter that is cut off", "/users/a%2"),
    get("a parameter that is empty", "/users/"),
    get("a parameter of dots", "/users/.."),
    get("a parameter of encoded dots", "/users/%2e%2e"),
    get("a parameter of one dot", "/users/."),
    get("a literal of another method beside a parameter", "/users/search"),
    Case("the literal itself", "/users/search", "POST"),
    Case("a parameter, by the method of the literal beside it", "/users/ann", "POST", compared=("allow",)),
    get("a page for every path beside a route of another method", "/app/login"),
    Case("the route of another method beside a page for every path", "/app/login", "POST"),
    get("a page for every path", "/app/a/b/c"),
    get("a page for the path itself", "/app/"),
    Case("another method than that of the page for every path", "/app/a", "POST", compared=("allow",)),
    Case("PUT", "/items/7", "PUT"),
    Case("DELETE", "/items/7", "DELETE"),
    Case("the methods of several routes", "/items/7", "PATCH", compared=("allow",)),
]

VALUES = [
    get("a query", "/query?a=1"),
    get("a query that repeats a name", "/query?a=1&b=2&a=3"),
    get("a query with an empty value", "/query?a="),
    get("a query without a value", "/query?a"),
    get("a query with a plus", "/query?a=b+c"),
    get("a query with an encoded plus", "/query?a=b%2Bc"),
    get("a query in UTF-8", "/query?a=%C3%A9"),
    get("a query with an encoded ampersand", "/query?a=b%26c"),
    get("a query with two equal signs", "/query?a=b=c"),
    get("a query with empty fields", "/query?&&a=1&&"),
    get("a query with a question mark", "/query?a=?"),
    get("a query with a percent sign", "/query?a=100%"),
    get("a query that is not encoded correctly", "/query?a=%zz"),
    get("a query with a semicolon", "/query?a=1;b=2"),
    get("a query whose name is encoded", "/query?%61=1"),
    get("a query with brackets", "/query?a[]=1"),
    get("an empty query", "/query?"),
    form("a form", b"a=1"),
    form("a form that repeats a name", b"a=1&b=2&a=3"),
    form("a form with a plus and an encoded plus", b"a=b+c%2B"),
    form("a form in UTF-8", b"a=%C3%A9"),
    form("an empty form", b""),
    form("a form with a character set", b"a=1", FORM + "; charset=UTF-8"),
    form("a form of a type in capitals", b"a=1", FORM.upper()),
    form("a form with a percent sign", b"a=100%"),
    form("a form of another type", b"a=1", "text/plain"),
    form("a form without a type", b"a=1", ""),
    get("a cookie", "/cookie", "Cookie: a=1\r\n"),
    get("a cookie among others", "/cookie", "Cookie: b=2; a=1; c=3\r\n"),
    get("a cookie that occurs twice", "/cookie", "Cookie: a=1; a=2\r\n"),
    get("a cookie in quotes", "/cookie", 'Cookie: a="1"\r\n'),
    get("a cookie with spaces", "/cookie", "Cookie: a=b c\r\n"),
    get("a cookie with a comma", "/cookie", "Cookie: a=b,c\r\n"),
    get("a cookie of JSON", "/cookie", 'Cookie: a={"b":1}\r\n'),
    get("a cookie with an equal sign", "/cookie", "Cookie: a=b=c\r\n"),
    get("a cookie without a space behind the semicolon", "/cookie", "Cookie: b=2;a=1\r\n"),
    get("a cookie behind one without an equal sign", "/cookie", "Cookie: b; a=1\r\n"),
    get("an empty cookie", "/cookie", "Cookie: a=; b=1\r\n"),
    get("no cookie", "/cookie"),
]

BODIES = [
    Case("a body", "/echo", "POST", "Content-Type: text/plain\r\n", b"some text"),
    Case("an empty body", "/echo", "POST"),
    Case("a body in chunks", "/echo", "POST", "Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n",
         b"5\r\nsome \r\n4\r\ntext\r\n0\r\n\r\n"),
    Case("a body with GET", "/hello", "GET", "", b"some text"),
    Case("a body that nobody reads", "/reject", "POST", "", b"x" * 100_000),
    Case("a refusal of a body that pauses", "/reject", "POST", "", b"abc", 10),
    Case("a path without a route, and a body that pauses", "/nothing", "POST", "", b"abc", 10),
    Case("another method, and a body that pauses", "/hello", "POST", "", b"abc", 10),
]

ANSWERS = [
    get("a redirect", "/redirect", compared=("location",)),
    get("a redirect with characters that a URL cannot have", "/redirect/odd", compared=("location",)),
    get("a failure", "/fail"),
    get("a body that fails before its first byte", "/stream/fail"),
    get("no content", "/empty", compared=("content-length", "transfer-encoding")),
    get("a Server field of the handler", "/server", compared=("server",)),
]

RANGE = ("content-range", "content-length")
FILES = [
    get("a file", "/static/hello.txt", compared=("content-type", "content-length")),
    Case("HEAD of a file", "/static/hello.txt", "HEAD", compared=("content-type", "content-length")),
    get("a file of JSON", "/static/data.json", compared=("content-type",)),
    get("a file of unknown type", "/static/data.xyzzy"),
    get("an empty file", "/static/empty.txt", compared=("content-length",)),
    get("a file that is not there", "/static/nothing.txt"),
    get("a file with a slash behind it", "/static/hello.txt/"),
    get("a file whose name has a space", "/static/sp%20ace.txt"),
    get("a file whose name has a percent sign", "/static/100%25.txt"),
    get("a file whose name has a plus", "/static/a+b.txt"),
    get("a directory without a slash", "/static/pages", compared=("location",)),
    get("a directory with an index", "/static/pages/"),
    get("a directory without an index", "/static/bare/"),
    get("a file above the directory", "/static/../secret.txt"),
    get("a file above the directory, encoded", "/static/%2e%2e/secret.txt"),
    get("a file above the directory, with an encoded slash", "/static/..%2fsecret.txt"),
    get("a link that leads out of the directory", "/static/outside.txt"),
    get("a link within the directory", "/static/inside.txt"),
    get("a null byte", "/static/hello.txt%00"),
    Case("POST of a file", "/static/hello.txt", "POST"),
    get("the first bytes of a file", "/static/hello.txt", "Range: bytes=0-4\r\n", RANGE),
    get("the last bytes of a file", "/static/hello.txt", "Range: bytes=-5\r\n", RANGE),
    get("the bytes behind the first ones", "/static/hello.txt", "Range: bytes=11-\r\n", RANGE),
    get("a range that ends behind the file", "/static/hello.txt", "Range: bytes=11-99\r\n", RANGE),
    get("a range behind the file", "/static/hello.txt", "Range: bytes=99-\r\n", ("content-range",)),
    get("a range that is malformed", "/static/hello.txt", "Range: bytes=a-b\r\n", RANGE),
    get("a range of another unit", "/static/hello.txt", "Range: lines=0-4\r\n", RANGE),
    get("a condition that no file meets", "/static/hello.txt", 'If-None-Match: "no"\r\n'),
    get("a condition that every file meets", "/static/hello.txt", "If-None-Match: *\r\n"),
    get("a date after that of the file", "/static/hello.txt", "If-Modified-Since: Fri, 01 Jan 2038 00:00:00 GMT\r\n"),
    get("a date before that of the file", "/static/hello.txt", "If-Modified-Since: Sat, 01 Jan 2000 00:00:00 GMT\r\n"),
    get("a date that is malformed", "/static/hello.txt", "If-Modified-Since: yesterday\r\n"),
    get("a range of another version", "/static/hello.txt", 'Range: bytes=0-4\r\nIf-Range: "no"\r\n', RANGE),
]

ALL = [*ROUTES, *VALUES, *BODIES, *ANSWERS, *FILES]


def fill(directory):
    """Creates the files that the requests ask for."""
    (directory.parent / "secret.txt").write_text("a file of nobody's business")
    for name, content in (("hello.txt", "hello, everybody"), ("data.json", "{}"), ("data.xyzzy", "?"),
                          ("empty.txt", ""), ("sp ace.txt", "space"), ("100%.txt", "percent"), ("a+b.txt", "plus"),
                          ("pages/index.html", "index"), ("bare/page.txt", "bare")):
        path = directory / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
    (directory / "outside.txt").symlink_to("../secret.txt")
    (directory / "inside.txt").symlink_to("hello.txt")
