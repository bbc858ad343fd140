"""Starts the servers of examples/refactor."""

import re
import signal
import socket
import subprocess
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

    def fill(self, peer, seconds=0.2):
        """Sends until the server waits for this peer to read: it sleeps, and nothing moves for so long. That is longer
        than the kernel delays an acknowledgement. In a second or two it may still find some more room for the server's
        bytes, when it has asked the peer again."""
        peer.setblocking(False)
        before, same = None, 0
        for _ in range(2000):
            try:
                while peer.send(b"x" * (1 << 20)) > 0:
                    same = 0
            except BlockingIOError:
                pass
            now = self.queued_for(peer)
            same = same + 1 if self.sleeps() and now == before and "00000000" not in now else 0
            if same >= seconds * 100:
                peer.settimeout(20)
                return
            before = now
            time.sleep(0.01)
        raise AssertionError("it goes on reading")

    def queued_for(self, peer):
        """The bytes that both ends have sent and that have not been acknowledged."""
        ends = {f"0100007F:{port:04X}" for port in (self.address[1], peer.getsockname()[1])}
        rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        return [row[4].partition(":")[0] for row in rows if {row[1], row[2]} == ends]

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
