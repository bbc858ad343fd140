"""Starts the servers of examples/refactor, and fills them."""

import fcntl
import signal
import socket
import struct
import termios
import time
from pathlib import Path

from support import Program


class Server(Program):
    """A server of examples/refactor."""

    def socket(self, timeout=20):
        return super().socket(timeout)

    def connect_deaf(self):
        """A client with small buffers. They have a fixed size, so the kernel never finds more room in them."""
        peer = socket.socket()
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
        peer.settimeout(20)
        peer.connect(("127.0.0.1", self.port))
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

    def end(self, number=signal.SIGTERM):
        """Sends a signal. Returns the exit code and the output since the start."""
        return self.stop(number), self.process.stderr.read()


def queued(peer):
    """The bytes that the peer has sent and that have not been acknowledged, and those that it has not read. The table
    of all sockets in /proc would also show them, but it takes long to read on a machine with many connections."""
    return [struct.unpack("i", fcntl.ioctl(peer, request, bytes(4)))[0] for request in (termios.TIOCOUTQ,
                                                                                        termios.FIONREAD)]
