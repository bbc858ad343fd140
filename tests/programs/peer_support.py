"""Starts servers and proxies of others for tests of `gyre fetch`."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
import unittest

from certificates import Authority, copy_certificates
from fetch_test import fetch
from support import temporary_folder


def command_of(name):
    return shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin")


def make_certificates(folder):
    Authority(folder).server("one", "localhost", "127.0.0.1")


class WithPeers(unittest.TestCase):
    def setUp(self):
        self.folder = temporary_folder(self)
        self.folder.chmod(0o777)  # some of these programs give up their rights
        self.root = self.folder / "root"
        self.root.mkdir()
        self.small = b"a small file\n" * 100
        self.large = os.urandom(5_000_000)
        (self.root / "small").write_bytes(self.small)
        (self.root / "large").write_bytes(self.large)
        os.utime(self.root / "large", (1_700_000_000, 1_700_000_000))  # Apache's tags are weak for a new file
        copy_certificates(make_certificates, self.folder)
        self.authority = Authority(self.folder)
        self.chain, self.key = self.folder / "one.chain", self.folder / "one.key"
        self.key.chmod(0o644)

    def start(self, command, port):
        """Starts a program that listens on this port, and ends it with the test."""
        errors = self.folder / "errors"
        with errors.open("w") as said:
            process = subprocess.Popen([str(part) for part in command], stdout=said, stderr=said, cwd=self.folder,
                                       start_new_session=True)
        self.addCleanup(process.wait)
        self.addCleanup(self.end, process)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                time.sleep(0.02)
        self.fail(f"{command[0]} did not start: {errors.read_text()}")

    @staticmethod
    def end(process):
        with contextlib.suppress(ProcessLookupError):  # it has ended, and so have its children
            os.killpg(process.pid, signal.SIGKILL)

    def fetched(self, *arguments, code=0):
        got, out, said = fetch("--cacert", self.authority.certificate, *arguments)
        self.assertEqual(got, code, said)
        return out

    def configured(self, name, text, **values):
        file = self.folder / f"{name}.conf"
        file.write_text(text.format(folder=self.folder, root=self.root, chain=self.chain, key=self.key, **values))
        return file
