#!/usr/bin/env python3
"""The demo: `gyre serve` on gyre's own documentation site, checked with curl; then it stays until Ctrl-C.

usage: ./gyre demo [--once] [--listen HOST:PORT]; the script builds the program and the site, and names them here
"""

import argparse
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path


class Server:
    """`gyre serve`, ended when the block is left, however that happens."""

    def __init__(self, program, arguments):
        self.command = [program, "serve", *arguments]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            found = re.match(r"listening on (\S+)", line)
            if found:
                self.url = f"http://{found.group(1)}"
                return self
            print(line, end="", flush=True)
        raise SystemExit(f"demo: the server ended before it was ready (exit {self.process.wait()})")

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stderr.close()


def curl(url, *options):
    """Status, fields and body of one request."""
    done = subprocess.run(["curl", "--silent", "--show-error", "--include", "--max-time", "10", *options, url],
                          capture_output=True, timeout=15)
    if done.returncode != 0:
        raise SystemExit(f"demo: curl {url}: {done.stderr.decode().strip()}")
    head, _, body = done.stdout.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    fields = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:])}
    return int(lines[0].split()[1]), fields, body


def check(url, site, upload):
    """Asks for what a person and a browser would; gives what was checked, or ends the program."""
    index = (site / "index.html").read_bytes()

    def expect(what, true):
        if not true:
            raise SystemExit(f"demo: FAILED: {what}")
        print(f"  ok  {what}", flush=True)

    status, fields, body = curl(url + "/")
    expect("GET / is the index page, as it is on the disk", status == 200 and body == index)
    expect("it has a type, an entity tag and a date",
           all(fields.get(name) for name in ("content-type", "etag", "date")))
    status, _, body = curl(url + "/", "--header", f"If-None-Match: {fields['etag']}")
    expect("a client that already has it gets 304 without a body", status == 304 and not body)
    status, part, body = curl(url + "/", "--range", "0-99")
    expect("the first 100 bytes are 206", status == 206 and body == index[:100] and
           part["content-range"] == f"bytes 0-99/{len(index)}")
    status, fields, body = curl(url + "/source/")
    expect("a directory is listed", status == 200 and b"include.gyre.tasks.task_group.hpp.html" in body)
    status, fields, _ = curl(url + "/source")
    expect("without its slash it is a redirect", status == 308 and fields["location"] == "./source/")
    status, fields, body = curl(url + "/reference/tasks/task_group.html")
    expect("the reference has a page for task_group", status == 200 and b"gyre::task_group" in body)
    status, _, _ = curl(url + "/../../etc/passwd", "--path-as-is")
    expect("nothing outside of the directory is served", status == 404)
    status, fields, _ = curl(url + "/", "--request", "DELETE")
    expect("another method is 405, with a list of those allowed", status == 405 and "GET" in fields["allow"])
    compressed = curl(url + "/", "--header", "Accept-Encoding: gzip")[1]
    expect("text is compressed for clients that accept gzip", compressed.get("content-encoding") == "gzip")
    status, _, _ = curl(url + "/_upload", "--form", f"file=@{site / 'LICENSE'}", "--header", "Accept: application/json")
    expect("a file is uploaded", status == 201 and (upload / "LICENSE").read_bytes() == (site / "LICENSE").read_bytes())


def main():
    parser = argparse.ArgumentParser(prog="./gyre demo", description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--site", required=True, type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--once", action="store_true", help="check, and exit")
    parser.add_argument("--listen", default="127.0.0.1:0", help="HOST:PORT; port 0, as without this, is any free one")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    site = arguments.site
    with tempfile.TemporaryDirectory(prefix="gyre-demo-") as scratch:
        upload = Path(scratch)
        options = ["--listen", arguments.listen, "--threads", "0", "--compress", "--access-log", "off"]
        with Server(arguments.program, [str(site), *options, "--upload", str(upload)]) as server:
            check(server.url, site, upload)
            if arguments.once:
                return
            print(f"\nLook at {server.url}/ (and {server.url}/_upload). Ctrl-C ends it.", flush=True)
            try:
                server.process.wait()
            except KeyboardInterrupt:
                print()


if __name__ == "__main__":
    main()
