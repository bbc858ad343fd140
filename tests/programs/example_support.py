"""Starts examples that speak HTTP, and asks them with independent clients."""

import concurrent.futures
import http.client
import re
import signal
import socket
import subprocess
import time

from support import BIN


class Program:
    """An example that listens on a free port, and is always ended."""

    def __init__(self, name, *arguments):
        self.command = [str(BIN / name), "--listen", "127.0.0.1:0", *arguments]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        line = self.process.stdout.readline()
        found = re.fullmatch(r"listening on http://127\.0\.0\.1:(\d+)\n", line)
        if not found:
            self.process.kill()
            raise AssertionError(f"unexpected first line: {line!r}")
        self.port = int(found.group(1))
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def socket(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def request(self, method, target, body=None, headers={}, **options):
        """Returns (status, headers, body)."""
        connection = self.connect()
        try:
            connection.request(method, target, body, headers, **options)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def get(self, target, headers={}):
        status, _, body = self.request("GET", target, headers=headers)
        return status, body

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(20)


def all_at_once(count, function):
    """Calls the function with 0, 1, … on as many threads. Returns the results and the seconds elapsed."""
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        results = list(pool.map(function, range(count)))
    return results, time.monotonic() - began


def read_to_end(peer):
    data = b""
    while part := peer.recv(65536):
        data += part
    return data
