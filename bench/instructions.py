"""Instructions per request of an HTTP server in user space, counted with valgrind's callgrind on epoll.

    python3 bench/instructions.py build/release/bin/hello_server
    python3 bench/instructions.py build/release/bin/hello_server --connections 64 --profile callgrind.out

The server runs twice, with different numbers of requests. The difference of the counts is divided by the difference of
the numbers, so that start-up and shutdown drop out. With one connection, each request takes a turn of the loop, and the
count does not depend on the load of the machine. With more of them, the requests of a round share turns."""
import argparse
import contextlib
import os
import socket
import subprocess
import tempfile
from pathlib import Path

from counting import counts_in
from servers import Server

REQUEST = "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n"


def answers(client, count):
    """Reads this many answers, none of which has a body that contains a status line."""
    text = b""
    while text.count(b"HTTP/1.1 200 ") < count or not text.endswith(answers.end):
        piece = client.recv(1 << 20)
        if not piece:
            raise SystemExit("the server closed a connection")
        text += piece
        answers.end = answers.end or text[-8:]


answers.end = b""


def count(given, rounds, profile):
    """Returns the instructions of a server that answers `rounds` batches on each connection."""
    batch = REQUEST.format(path=given.path).encode() * given.depth
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as opened:
        result = profile or os.path.join(folder, "result")
        # Older versions of valgrind stop at the debug information of newer compilers. The names of functions remain.
        stripped = os.path.join(folder, "server")
        subprocess.run(["objcopy", "--strip-debug", given.program, stripped], check=True)
        command = ["env", "GYRE_BACKEND=epoll", "valgrind", "--tool=callgrind", f"--callgrind-out-file={result}",
                   stripped, *given.arguments, "--listen", "127.0.0.1:0"]
        with Server(given.program, command, folder, cores=None) as server:
            clients = [opened.enter_context(socket.create_connection(("127.0.0.1", server.port)))
                       for _ in range(given.connections)]
            for _ in range(rounds):
                for client in clients:
                    client.sendall(batch)
                for client in clients:
                    answers(client, given.depth)
        return counts_in(Path(result).read_text())[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="a server that takes --listen and prints its address")
    parser.add_argument("arguments", nargs="*", help="arguments of the program, after --")
    parser.add_argument("--path", default="/")
    parser.add_argument("--connections", type=int, default=1)
    parser.add_argument("--depth", type=int, default=1, help="requests sent at once on a connection")
    parser.add_argument("--profile", help="keep the result of the longer run here, for callgrind_annotate")
    given = parser.parse_args()
    each = given.connections * given.depth
    few, many = max(20, 4_000 // each), max(100, 20_000 // each)
    difference = count(given, many, given.profile) - count(given, few, None)
    print(f"{difference / (many - few) / each:.0f} instructions per request")


if __name__ == "__main__":
    main()
