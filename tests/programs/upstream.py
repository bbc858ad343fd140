"""The server behind the proxy."""

import http.server
import json
import time


class Upstream(http.server.ThreadingHTTPServer):
    """The server behind the proxy."""
    daemon_threads = True
    request_queue_size = 128

    class Page(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # otherwise a body waits 40 ms for the acknowledgement of its head

        def setup(self):
            super().setup()
            self.server.accepted += 1

        def log_message(self, *_):
            pass

        def body(self):
            if "chunked" not in self.headers.get("Transfer-Encoding", ""):
                return self.rfile.read(int(self.headers.get("Content-Length", 0)))
            pieces = []
            while size := int(self.rfile.readline(), 16):
                pieces.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(pieces)

        def answer(self, body, *fields, status=200):
            self.send_response(status)
            for name, value in fields:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def do_GET(self):
            if self.path.startswith("/sleep"):
                time.sleep(0.3)
                self.answer(b"slept")
            elif self.path == "/pieces":
                self.send_response(200)
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for _ in range(2):
                    self.wfile.write(b"5\r\npiece\r\n")
                    self.server.may_go_on.wait(20)
                self.wfile.write(b"0\r\nX-Trailer: 1\r\n\r\n")
            elif self.path == "/until_end":
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"z" * 100_000)
                self.close_connection = True
            elif self.path == "/empty":
                self.send_response(204)
                self.end_headers()
            else:
                seen = {"method": self.command, "path": self.path, "headers": list(self.headers.items())}
                self.answer(json.dumps(seen).encode(), ("Content-Type", "application/json"), ("X-Mine", "a"),
                            ("X-Mine", "b"), ("Connection", "X-Hop"), ("X-Hop", "1"), ("Keep-Alive", "timeout=5"))

        do_HEAD = do_DELETE = do_OPTIONS = do_TRACE = do_GET

        def do_POST(self):
            if self.path == "/refuse":
                self.close_connection = True
                return self.answer(b"too much", status=413)
            self.answer(self.body(), ("X-Framing", "chunked" if "Transfer-Encoding" in self.headers else "sized"))
