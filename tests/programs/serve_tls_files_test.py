"""Certificate files that gyre serve cannot use, at the start and while it runs: encrypted keys, pipes, devices, and
certificates that have expired."""

import hashlib
import os
import select
import signal
import ssl
import subprocess
import time
import unittest

from certificates import Authority, copy_certificates, openssl
from raw_http import WithTree
from support import BIN, Serve, skip_without

skip_without("openssl")


def make_certificates(folder):
    authority = Authority(folder)
    authority.server("one", "localhost")
    authority.server("old", "localhost", days=-1)
    openssl("ec", "-in", folder / "one.key", "-aes256", "-passout", "pass:secret", "-out", folder / "traditional.key")
    openssl("pkcs8", "-topk8", "-in", folder / "one.key", "-passout", "pass:secret", "-out", folder / "encrypted.key")


def digest_of(chain):
    first = chain.read_text().partition("-----END CERTIFICATE-----")
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(first[0] + first[1] + "\n")).hexdigest()


class Files(WithTree):
    def setUp(self):
        super().setUp()
        self.folder = self.root.parent
        copy_certificates(make_certificates, self.folder)
        self.chain, self.key = self.folder / "chain", self.folder / "key"
        self.install("one")
        self.pair = ("--tls-cert", self.chain, "--tls-key", self.key)

    def install(self, chain, key=None):
        for name, file in ((f"{key or chain}.key", self.key), (f"{chain}.chain", self.chain)):
            (self.folder / "new").write_bytes((self.folder / name).read_bytes())
            os.replace(self.folder / "new", file)

    def served(self, server):
        text = ssl.get_server_certificate(("127.0.0.1", server.port), timeout=20)
        return hashlib.sha256(ssl.PEM_cert_to_DER_cert(text)).hexdigest()

    def reload(self, server):
        server.process.send_signal(signal.SIGHUP)
        return server.process.stderr.readline()

    def make_pipe(self, file):
        file.unlink()
        os.mkfifo(file)

    def test_unusable_files_are_refused_at_the_start_and_nobody_is_asked(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        reading, writing = os.pipe()  # a standard input that never ends
        for key, reason in ((self.folder / "encrypted.key", "encrypted with a pass phrase"),
                            (self.folder / "traditional.key", "encrypted with a pass phrase"),
                            (pipe, "a pipe that nobody writes to"),
                            ("/dev/zero", "File too large"),
                            ("/dev/null", "is empty")):
            command = [BIN / "gyre", "serve", self.root, "--listen", "127.0.0.1:0", "--tls-cert", self.chain]
            done = subprocess.run([*command, "--tls-key", key], stdin=reading, capture_output=True, timeout=30,
                                  start_new_session=True)  # without a terminal
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(reason, done.stderr.decode())
        os.close(reading)
        os.close(writing)

    def test_a_key_from_a_pipe_of_the_shell_is_taken(self):
        command = 'exec "$0" serve "$1" --listen 127.0.0.1:0 --tls-cert "$2" --tls-key <(sleep 0.1; cat "$3")'
        with subprocess.Popen(["bash", "-c", command, BIN / "gyre", self.root, self.chain, self.key],
                              stderr=subprocess.PIPE, text=True) as server:
            self.assertTrue(any(line.startswith("listening on") for line in server.stderr))
            server.send_signal(signal.SIGTERM)
        self.assertEqual(server.returncode, 0)

    def test_encrypted_keys_change_nothing_and_the_server_stops(self):
        with Serve(self.root, *self.pair) as server:
            for name in ("encrypted", "traditional"):
                self.install("one", name)
                line = self.reload(server)
                self.assertIn("the certificates stay as they are: ", line)
                self.assertIn("encrypted with a pass phrase", line)
            self.assertEqual(self.served(server), digest_of(self.folder / "one.chain"))
            self.assertEqual(server.stop(), 0)

    def test_a_pipe_that_nobody_writes_to_changes_nothing(self):
        with Serve(self.root, *self.pair) as server:
            self.make_pipe(self.key)
            line = self.reload(server)
            self.assertIn("the certificates stay as they are: ", line)
            self.assertIn("a pipe that nobody writes to", line)

    def test_a_key_that_is_gone_is_reported_once_until_the_files_change_again(self):
        with Serve(self.root, *self.pair) as server:
            self.key.unlink()
            self.assertIn("the certificates stay as they are: ", server.process.stderr.readline())
            self.assertEqual(select.select([server.process.stderr], [], [], 2)[0], [], "it is reported again")
            self.install("one")
            self.assertIn("certificates loaded again", server.process.stderr.readline())

    def wait_until_open(self, process, file):
        descriptors = f"/proc/{process}/fd"
        end = time.monotonic() + 20
        while not any(os.readlink(f"{descriptors}/{each}") == str(file.resolve())
                      for each in os.listdir(descriptors) if os.path.islink(f"{descriptors}/{each}")):
            self.assertLess(time.monotonic(), end, "the file is not being read")
            time.sleep(0.01)

    def test_a_hang_up_during_the_start_does_not_end_the_server(self):
        key = self.key.read_bytes()
        self.make_pipe(self.key)
        writer = os.open(self.key, os.O_RDWR)
        command = [BIN / "gyre", "serve", self.root, "--listen", "127.0.0.1:0", *self.pair]
        with subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True) as server:
            self.wait_until_open(server.pid, self.key)
            server.send_signal(signal.SIGHUP)
            os.write(writer, key)
            os.close(writer)
            for line in server.stderr:
                if line.startswith("listening on "):
                    break
            self.assertRegex(server.stderr.readline(), "^the certificates stay as they are: ")  # the pipe is empty now
            server.terminate()
            self.assertEqual(server.wait(20), 0)

    def test_a_server_stops_while_a_reload_waits_for_a_file(self):
        with Serve(self.root, *self.pair) as server:
            self.make_pipe(self.key)
            writer = os.open(self.key, os.O_RDWR)  # and never writes
            try:
                server.process.send_signal(signal.SIGHUP)
                self.wait_until_open(server.process.pid, self.key)
                began = time.monotonic()
                self.assertEqual(server.stop(), 0)
                self.assertLess(time.monotonic() - began, 6, "it has waited for the file")
            finally:
                os.close(writer)

    def test_a_certificate_that_has_expired_does_not_replace_one_that_is_valid(self):
        with Serve(self.root, *self.pair) as server:
            self.install("old")
            warning = self.reload(server)
            self.assertRegex(warning, f"warning: --tls-cert {self.chain}: the certificate expired at 20[-0-9]+ [:0-9]+ "
                                      "UTC: the previous one is served, and is valid until 20")
            self.assertIn("certificates loaded again", server.process.stderr.readline())
            self.assertEqual(self.served(server), digest_of(self.folder / "one.chain"))

    def test_a_certificate_that_has_expired_is_served_with_a_warning_where_there_is_no_other(self):
        self.install("old")
        with Serve(self.root, *self.pair) as server:
            self.assertRegex("".join(server.lines), f"warning: --tls-cert {self.chain}: the certificate expired at 20")
            self.assertIn("clients refuse it", self.reload(server))
            self.assertIn("certificates loaded again", server.process.stderr.readline())
            self.assertEqual(self.served(server), digest_of(self.folder / "old.chain"))
            self.install("one")
            self.assertIn("certificates loaded again", self.reload(server))
            self.assertEqual(self.served(server), digest_of(self.folder / "one.chain"))


if __name__ == "__main__":
    unittest.main()
