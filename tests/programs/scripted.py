"""Servers that answer as a test says, and the one behind the proxy."""

import http.server
import json
import socket
import threading
import time

from support import serve_in_thread


class Scripted:
    """Answers each connection with `serve(socket, number)`, in a thread of its own."""

    def __init__(self, serve):
        self.serve = serve

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def accept(self):
        number = 0
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.answer, args=(peer, number), daemon=True).start()
            number += 1

    def answer(self, peer, number):
        try:
            with peer:
                self.serve(peer, number)
        except OSError:
            pass

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def read_head(peer):
    """Returns the text of a request's head."""
    text = b""
    while b"\r\n\r\n" not in text:
        piece = peer.recv(1000)
        if not piece:
            raise OSError("the client has left")
        text += piece
    return text.decode()


def ok(text, status="200 OK"):
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode()


def answering(text, status="200 OK"):
    """A server whose answers are all the same."""
    return remembering(ok(text, status))[0]


def remembering(answer=ok("")):
    """Returns a server that answers every request with these bytes, and the list of the heads of its requests."""
    seen = []

    def serve(peer, _):
        while head := read_head(peer):
            seen.append(head)
            peer.sendall(answer)
    return Scripted(serve), seen


def saying(answer, seen=None):
    """A server that reads the head of one request, sends these bytes, and closes."""
    def serve(peer, _):
        head = read_head(peer)
        if seen is not None:
            seen.append(head)
        peer.sendall(answer)
    return Scripted(serve)


class Upstream(http.server.ThreadingHTTPServer):
    """The server behind the proxy."""
    daemon_threads = True
    request_queue_size = 128

    def __init__(self):
        super().__init__(("127.0.0.1", 0), self.Page)
        self.port = self.server_address[1]
        self.accepted = 0
        self.may_go_on = threading.Event()

    def __enter__(self):
        serve_in_thread(self)
        return self

    def __exit__(self, *_):
        self.may_go_on.set()
        self.shutdown()
        self.server_close()

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
