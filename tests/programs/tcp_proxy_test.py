"""The example tcp_proxy passes on connections, their bytes and their ends."""

import hashlib
import os
import pathlib
import signal
import socket
import subprocess
import threading
import time
import unittest

from peer_support import WithPeers, command_of
from raw_http import read_all, reset
from support import BIN, Example, free_port, temporary_folder

SIZE = 10 << 20
HALF = 100_000  # of an upload; fits into the buffers of the kernel
NGINX_STREAM = pathlib.Path("/usr/lib/nginx/modules/ngx_stream_module.so")


def send_and_finish(peer, data):
    peer.sendall(data)
    peer.shutdown(socket.SHUT_WR)


def checksum_to_end(peer):
    digest = hashlib.sha256()
    while part := peer.recv(1 << 18):
        digest.update(part)
    return digest.hexdigest()


class TcpProxy(unittest.TestCase):
    def start(self, upstream):
        """Starts the proxy for a port of this machine. Returns its own port."""
        started = self.enterContext(Example("tcp_proxy", "127.0.0.1:0", f"127.0.0.1:{upstream}", listen=()))
        self.proxy = started.process
        return started.port

    def connect(self, port):
        peer = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.addCleanup(peer.close)
        return peer

    def listen(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(20)
        self.addCleanup(self.listener.close)
        self.port = self.start(self.listener.getsockname()[1])

    def run_until_it_listens(self, command, port):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        self.addCleanup(process.wait)
        self.addCleanup(WithPeers.end, process)
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port), timeout=20).close()
            except ConnectionRefusedError:
                time.sleep(0.05)
            else:
                self.listener.accept()[0].close()
                return process
        self.fail(f"{command[0]} does not listen")

    def pair(self):
        """The two ends of a connection through the proxy: (client, server)."""
        if not hasattr(self, "listener"):
            self.listen()
        client = self.connect(self.port)
        server = self.listener.accept()[0]
        server.settimeout(60)
        self.addCleanup(server.close)
        return client, server

    def test_passes_on_10_mib_both_ways_at_the_same_time(self):
        client, server = self.pair()
        there, back = os.urandom(SIZE), os.urandom(SIZE)
        sending = [threading.Thread(target=send_and_finish, args=each) for each in ((client, there), (server, back))]
        seen = {}
        sending.append(threading.Thread(target=lambda: seen.update(there=checksum_to_end(server))))
        for each in sending:
            each.start()
        seen["back"] = checksum_to_end(client)
        for each in sending:
            each.join()
        self.assertEqual(seen["there"], hashlib.sha256(there).hexdigest())
        self.assertEqual(seen["back"], hashlib.sha256(back).hexdigest())

    def test_the_end_of_one_direction_leaves_the_other(self):
        client, server = self.pair()
        send_and_finish(client, b"question")
        self.assertEqual(server.recv(100), b"question")
        self.assertEqual(server.recv(100), b"")
        for _ in range(3):
            server.sendall(b"answer")
            self.assertEqual(client.recv(100), b"answer")
        server.close()
        self.assertEqual(client.recv(100), b"")

    def test_connections_are_independent(self):
        pairs = [self.pair() for _ in range(20)]
        for number, (client, server) in enumerate(pairs):
            client.sendall(str(number).encode())
            self.assertEqual(server.recv(100), str(number).encode())
        pairs[0][0].close()
        self.assertEqual(pairs[0][1].recv(100), b"")
        pairs[1][1].sendall(b"still here")
        self.assertEqual(pairs[1][0].recv(100), b"still here")

    def test_a_reset_is_passed_on_as_a_reset(self):
        client, server = self.pair()
        client.sendall(b"x")
        self.assertEqual(server.recv(100), b"x")
        reset(client)
        with self.assertRaises(ConnectionResetError):
            server.recv(100)

    def test_a_refusal_closes_the_client_and_is_logged(self):
        with socket.socket() as silent:  # bound, so that nobody else gets the port, and not listening
            silent.bind(("127.0.0.1", 0))
            nobody = silent.getsockname()[1]
            port = self.start(nobody)
            try:  # the reset may come so early that it ends the connect
                self.assertEqual(self.connect(port).recv(100), b"")
            except ConnectionResetError:
                pass
            line = self.proxy.stderr.readline()
        self.assertIn(f"connect 127.0.0.1:{nobody}: Connection refused", line)

    def test_a_signal_ends_it(self):
        client, server = self.pair()
        self.proxy.send_signal(signal.SIGTERM)
        client.close()
        server.close()
        self.assertEqual(self.proxy.wait(20), 0)

    def test_a_second_signal_ends_it_with_connections_under_way(self):
        client, server = self.pair()
        self.proxy.send_signal(signal.SIGTERM)
        with self.assertRaises(subprocess.TimeoutExpired):
            self.proxy.wait(0.3)
        self.proxy.send_signal(signal.SIGTERM)
        self.assertEqual(self.proxy.wait(20), 128 + signal.SIGTERM)
        for peer in client, server:  # not an end: neither must take a part for the whole
            with self.assertRaises(ConnectionResetError):
                peer.recv(100)

    def finish_upload_after_signal(self, process, number, port):
        """Half of an upload, the request to stop, and the other half. Returns what the server got, to its end."""
        client = self.connect(port)
        client.sendall(b"x" * HALF)
        server = self.listener.accept()[0]
        server.settimeout(60)
        self.addCleanup(server.close)
        received = bytearray(server.recv(1))
        process.send_signal(number)
        reading = threading.Thread(target=lambda: received.extend(read_all(server)))
        reading.start()
        send_and_finish(client, b"y" * HALF)
        reading.join()
        server.close()
        self.assertEqual(client.recv(100), b"")
        self.assertEqual(process.wait(20), 0)
        return received

    def test_an_upload_that_is_under_way_at_a_signal_is_passed_on_whole(self):
        self.listen()
        received = self.finish_upload_after_signal(self.proxy, signal.SIGTERM, self.port)
        self.assertEqual(received, b"x" * HALF + b"y" * HALF)

    @unittest.skipUnless(command_of("nginx"), "nginx is not installed")
    @unittest.skipUnless(NGINX_STREAM.exists(), "nginx has no module for streams")
    def test_nginx_does_the_same_at_its_graceful_shutdown(self):
        self.listen()
        port = free_port()
        upstream = self.listener.getsockname()[1]
        folder = temporary_folder(self)
        configuration = folder / "nginx.conf"
        configuration.write_text(f"""
            daemon off; pid {folder}/pid; error_log stderr; worker_shutdown_timeout 20s;
            load_module {NGINX_STREAM}; events {{}}
            stream {{ server {{ listen 127.0.0.1:{port}; proxy_pass 127.0.0.1:{upstream}; }} }}""")
        nginx = self.run_until_it_listens([command_of("nginx"), "-e", "stderr", "-c", configuration], port)
        received = self.finish_upload_after_signal(nginx, signal.SIGQUIT, port)
        self.assertEqual(received, b"x" * HALF + b"y" * HALF)

    @unittest.skipUnless(command_of("haproxy"), "HAProxy is not installed")
    def test_haproxy_does_the_same_at_its_soft_stop(self):
        self.listen()
        port = free_port()
        configuration = temporary_folder(self) / "haproxy.cfg"
        configuration.write_text(f"""
global
  hard-stop-after 20s
defaults
  mode tcp
  timeout connect 5s
  timeout client 60s
  timeout server 60s
listen proxy
  bind 127.0.0.1:{port}
  server one 127.0.0.1:{self.listener.getsockname()[1]}
""")
        haproxy = self.run_until_it_listens([command_of("haproxy"), "-f", configuration], port)
        received = self.finish_upload_after_signal(haproxy, signal.SIGUSR1, port)
        self.assertEqual(received, b"x" * HALF + b"y" * HALF)

    def test_arguments_that_are_missing_are_named(self):
        done = subprocess.run([str(BIN / "tcp_proxy")], capture_output=True, text=True, timeout=20)
        self.assertEqual((done.returncode, done.stderr), (2, "usage: tcp_proxy LISTEN UPSTREAM\n"))


if __name__ == "__main__":
    unittest.main()
