"""Starts the servers of examples/refactor."""

import fcntl
import re
import signal
import socket
import struct
import subprocess
import termios
import threading
import time
from pathlib import Path

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

    def connect_deaf(self):
        """A client with small buffers. They have a fixed size, so the kernel never finds more room in them."""
        peer = socket.socket()
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
        peer.settimeout(20)
        peer.connect(self.address)
        return peer

    def fill(self, peer):
        """Sends until the server waits for this peer to read: the server sleeps, and nothing moves for 0.25 s. That is
        longer than the kernel delays an acknowledgement."""
        peer.setblocking(False)
        before, same = None, 0
        for _ in range(2000):
            try:
                while peer.send(b"x" * 65536) > 0:
                    same = 0
            except BlockingIOError:
                pass
            now = queued(peer)
            same = same + 1 if self.sleeps() and now == before and 0 not in now else 0
            if same >= 25:
                peer.settimeout(20)
                return
            before = now
            time.sleep(0.01)
        raise AssertionError("it goes on reading")

    def sleeps(self):
        """Whether all threads of the server sleep."""
        stats = [stat.read_text() for stat in Path(f"/proc/{self.process.pid}/task").glob("*/stat")]
        return all(stat.rpartition(")")[2].split()[0] == "S" for stat in stats)

    def stop(self, number=signal.SIGTERM):
        """Sends a signal. Returns the exit code and the output since the start."""
        self.process.send_signal(number)
        return self.process.wait(20), self.process.stderr.read()

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stderr.close()


def queued(peer):
    """The bytes that the peer has sent and that have not been acknowledged, and those that it has not read. The table
    of all sockets in /proc would also show them, but it takes long to read on a machine with many connections."""
    return [struct.unpack("i", fcntl.ioctl(peer, request, bytes(4)))[0] for request in (termios.TIOCOUTQ,
                                                                                        termios.FIONREAD)]


def read_to_end(peer, or_reset=False):
    pieces = []
    try:
        while piece := peer.recv(65536):
            pieces.append(piece)
    except ConnectionResetError:
        if not or_reset:
            raise
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
