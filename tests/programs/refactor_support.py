"""Starts the servers of examples/refactor."""

import re
import signal
import socket
import subprocess
import threading
import time

from support import BIN


class Server:
    """A server of examples/refactor. It prints its address on standard error."""

    def __init__(self, name, *arguments):
        self.command = [str(BIN / name), "--listen", "127.0.0.1:0", *map(str, arguments)]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        found = re.fullmatch(r"(echoing|serving) on (?:http://)?127\.0\.0\.1:(\d+)\n", line)
        if not found:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"unexpected first line: {line!r}")
        self.address = ("127.0.0.1", int(found.group(2)))
        return self

    def connect(self):
        return socket.create_connection(self.address, 20)

    def wait_until_it_stops_accepting(self):
        """Waits for the effect of the first signal. A second one before that would be merged with it."""
        for _ in range(2000):
            try:
                self.connect().close()
            except ConnectionError:
                return
            time.sleep(0.01)
        raise AssertionError("it goes on accepting")

    def stop(self, number=signal.SIGTERM):
        """Sends a signal. Returns the exit code and the output since the start."""
        self.process.send_signal(number)
        return self.process.wait(20), self.process.stderr.read()

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stderr.close()


def read_to_end(peer):
    pieces = []
    while piece := peer.recv(65536):
        pieces.append(piece)
    return b"".join(pieces)


def exchange(peer, message):
    """Sends everything and reads everything at the same time, and then shuts down its sending side."""
    def send():
        peer.sendall(message)
        peer.shutdown(socket.SHUT_WR)

    sending = threading.Thread(target=send)
    sending.start()
    try:
        return read_to_end(peer)
    finally:
        sending.join()
