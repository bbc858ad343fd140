"""Servers that answer as a test says."""

import socket
import threading


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
