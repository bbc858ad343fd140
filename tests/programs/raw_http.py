"""HTTP as bytes on sockets, uploads, and a tree to serve: what the clients of several scripts share."""

import concurrent.futures
import json
import os
import socket
import threading
import time
import unittest

from support import ask, temporary_folder


def read_all(peer, or_reset=False):
    """Returns everything until the peer closes; or resets, if that is expected."""
    received = bytearray()
    try:
        while piece := peer.recv(1 << 18):
            received += piece
    except ConnectionResetError:
        if not or_reset:
            raise
    return bytes(received)


def read_until(peer, end, text=b""):
    """Returns everything up to the piece that completes `end`."""
    while end not in text:
        piece = peer.recv(65536)
        if not piece:
            raise OSError(f"the connection has ended after {text}")
        text += piece
    return text


def exchange(port, request, host="127.0.0.1"):
    """Sends a request. Returns everything that the server sends until it closes the connection."""
    with socket.create_connection((host, port), timeout=20) as peer:
        peer.sendall(request)
        return read_all(peer)


def reset(peer):
    """Resets the connection instead of an orderly close, so that no port stays in TIME_WAIT."""
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    peer.close()


def exchange_at_once(peer, message):
    """Sends everything and reads everything at the same time, and then shuts down its sending side."""
    def send():
        peer.sendall(message)
        peer.shutdown(socket.SHUT_WR)

    sending = threading.Thread(target=send)
    sending.start()
    try:
        return read_all(peer)
    finally:
        sending.join()


def all_at_once(count, function):
    """Calls the function with 0, 1, … on as many threads. Returns the results and the seconds elapsed."""
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        results = list(pool.map(function, range(count)))
    return results, time.monotonic() - began


def multipart(name, content, count=1):
    boundary = "gyre-test-boundary"
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    parts = (head.encode("utf-8", "surrogateescape") + content + b"\r\n") * count
    return parts + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


def upload(port, name, content, count=1):
    """Returns the status and the names of the files, or the text of the refusal."""
    body, kind = multipart(name, content, count)
    status, _, answer = ask(port, "/_upload", "POST", {"Content-Type": kind, "Accept": "application/json"}, body)
    return status, json.loads(answer)["files"] if status == 201 else answer


LARGE = os.urandom(8 << 20)


class WithTree(unittest.TestCase):
    def setUp(self):
        folder = temporary_folder(self)
        self.root, self.uploads = folder / "root", folder / "uploads"
        (self.root / "sub").mkdir(parents=True)
        self.uploads.mkdir()
        (self.root / "a.txt").write_text("alpha\n" * 1000)
        (self.root / "sub/b.txt").write_text("beta\n")
        (self.root / "large").write_bytes(LARGE)
