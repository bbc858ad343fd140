"""Programs under load end by a stop request. Nothing acknowledged is lost, and the exit code is their own."""

import http.client
import os
import signal
import threading
import unittest

from support import Example, Program, Serve, temporary_folder


def stopping(file):
    """The example of the guide, which writes all lines that it has received to a file after its drain."""
    return Example("stopping", file, "--listen", "127.0.0.1:0", listen=())


class Load:
    """Clients that repeat `one(client, number)` until it fails. `done` holds the successful results."""

    def __init__(self, clients, connect, one):
        self.done = []
        self.busy = threading.Event()  # set after 20 successes per client, on average
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.run, args=(i, connect, one)) for i in range(clients)]
        for each in self.threads:
            each.start()

    def run(self, index, connect, one):
        try:
            with connect() as peer:
                for number in range(1_000_000):
                    result = one(peer, f"{index}.{number}")
                    with self.lock:
                        self.done.append(result)
                        if len(self.done) > 20 * len(self.threads):
                            self.busy.set()
        except (OSError, http.client.HTTPException):
            pass  # the server has ended

    def end(self):
        for each in self.threads:
            each.join(20)


class HttpClient(http.client.HTTPConnection):
    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def post(connection, line):
    connection.request("POST", "/", line)
    answer = connection.getresponse()
    answer.read()
    if answer.status != 202:
        raise ConnectionError(answer.status)
    if answer.headers["Connection"] == "close":
        connection.close()  # otherwise the next request would connect again
        connection.auto_open = 0
    return line


class UnderLoad(unittest.TestCase):
    def setUp(self):
        self.folder = temporary_folder(self)

    def test_a_server_with_a_worker_writes_what_it_has_accepted_and_exits_with_0(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            file = self.folder / str(number)
            with stopping(file) as server:
                load = Load(8, lambda: HttpClient("127.0.0.1", server.port, timeout=20), post)
                self.assertTrue(load.busy.wait(20))
                self.assertEqual(server.stop(number), 0)
                load.end()
            lines = file.read_text().splitlines()
            self.assertEqual(len(lines), len(set(lines)))
            self.assertEqual(set(load.done) - set(lines), set())

    def test_a_second_signal_cuts_off_what_takes_long_and_gives_143(self):
        with stopping(self.folder / "none") as server, server.socket() as peer:
            peer.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf")
            with HttpClient("127.0.0.1", server.port, timeout=20) as client:
                post(client, "first")  # so that the other connection has been accepted
            server.process.send_signal(signal.SIGTERM)
            server.wait_until_it_stops_accepting()
            self.assertEqual(server.stop(signal.SIGTERM), 143)
            self.assertFalse((self.folder / "none").exists())

    def test_gyre_serve_on_several_threads_completes_its_answers_and_exits_with_0(self):
        content = os.urandom(100_000)
        (self.folder / "file").write_bytes(content)

        def get(connection, _):
            connection.request("GET", "/file")
            answer = connection.getresponse()
            body = answer.read()
            if answer.headers["Connection"] == "close":
                connection.close()
                connection.auto_open = 0
            return body == content

        for number in (signal.SIGTERM, signal.SIGINT):
            with Serve(self.folder, "--threads", 2, "--access-log", "off") as server:
                load = Load(8, lambda: HttpClient("127.0.0.1", server.port, timeout=20), get)
                self.assertTrue(load.busy.wait(20))
                self.assertEqual(server.stop(number), 0)
                load.end()
            self.assertTrue(all(load.done))

    def test_echo_server_exits_with_0(self):
        def echo(peer, word):
            peer.sendall(word.encode())
            heard = b""
            while len(heard) < len(word):
                chunk = peer.recv(100)
                if not chunk:
                    raise ConnectionError("the end")
                heard += chunk
            return heard == word.encode()

        with Program("echo_server") as server:
            load = Load(8, server.socket, echo)
            self.assertTrue(load.busy.wait(20))
            self.assertEqual(server.stop(signal.SIGTERM), 0)
            load.end()
        self.assertTrue(all(load.done))


if __name__ == "__main__":
    unittest.main()
