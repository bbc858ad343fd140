"""gyre fetch and gyre load: the requests that they send, and arguments from which none can be made."""

import os
import subprocess
import unittest

from fetch_test import fetch
from scripted import Scripted, read_head
from support import BIN, run, temporary_folder


class Requests(unittest.TestCase):
    def setUp(self):
        self.folder = temporary_folder(self)
        self.heads = []
        self.bodies = []

        def serve(peer, _):
            text = read_head(peer)
            head, _, body = text.partition("\r\n\r\n")
            fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:])
            while len(body) < int(fields.get("content-length", 0)):
                body += peer.recv(1000).decode()
            self.heads.append(head.split("\r\n"))
            self.bodies.append(body)
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")

        server = self.enterContext(Scripted(serve))
        self.url = f"http://127.0.0.1:{server.port}/x"

    def test_an_empty_body_is_a_body(self):
        for arguments in (("-d", ""), ("--json", ""), ("-d", "@/dev/null")):
            self.assertEqual(fetch(*arguments, self.url)[0], 0)
            self.assertEqual(self.heads[-1][0], "POST /x HTTP/1.1", arguments)
            self.assertIn("Content-Length: 0", self.heads[-1])
        self.assertEqual(run(BIN / "gyre", "load", "-n", "1", "-c", "1", "--data", "", self.url).returncode, 0)
        self.assertEqual(self.heads[-1][0], "POST /x HTTP/1.1")
        self.assertIn("Content-Length: 0", self.heads[-1])
        self.assertEqual(fetch("-X", "GET", "-d", "", self.url)[0], 0)
        self.assertEqual(self.heads[-1][0], "GET /x HTTP/1.1")
        self.assertIn("Content-Length: 0", self.heads[-1])

    def test_an_empty_proxy_or_list_of_exceptions_overrides_the_environment(self):
        dead = {"http_proxy": "http://127.0.0.1:1"}
        self.assertEqual(fetch("--proxy", "", self.url, environment=dead)[0], 0)
        self.assertEqual(fetch("--noproxy", "", self.url, environment={**dead, "no_proxy": "*"})[0], 7)

    def test_bodies_come_from_files_pipes_and_standard_input(self):
        (self.folder / "body").write_text("of a file")
        fetch("-d", f"@{self.folder}/body", self.url)
        subprocess.run(f"printf 'of a pipe' | {BIN}/gyre fetch -d @- {self.url}", shell=True, check=True,
                       stdout=subprocess.DEVNULL)
        subprocess.run(["bash", "-c", f"{BIN}/gyre fetch -d @<(sleep 0.1; printf 'of a command') {self.url}"],
                       check=True, stdout=subprocess.DEVNULL)
        self.assertEqual(self.bodies, ["of a file", "of a pipe", "of a command"])

    def test_a_body_that_cannot_be_read_is_named_and_is_exit_code_26(self):
        with (self.folder / "sparse").open("wb") as sparse:
            os.truncate(sparse.fileno(), 1 << 40)
        for flag in ("--data", "--json"):
            for file, why in (("", "the name of a file is missing after the @"), (self.folder, "Is a directory"),
                              ("/no/such", "No such file or directory"),
                              (self.folder / "sparse", "more than 1073741824 bytes")):
                code, _, said = fetch(flag, f"@{file}", self.url)
                self.assertEqual((code, said.startswith(f"gyre fetch: {flag} @{file}: {why}")), (26, True), said)
        done = run(BIN / "gyre", "load", "--data", f"@{self.folder}", self.url)
        self.assertEqual((done.returncode, done.stderr.decode()),
                         (1, f"gyre load: --data @{self.folder}: Is a directory\n"))
        self.assertEqual(self.heads, [])

    def test_a_field_that_cannot_be_sent_is_refused_with_the_name_of_its_flag(self):
        for wrong in ("nonsense", "a b: c", "A: \x01", "A: b\nC: d", "Content-Length: 1", "Connection: keep-alive",
                      "Expect: 100-continue", "Upgrade: x", "Proxy-Authorization: x", "TE: gzip"):
            for command in ("fetch", "load"):
                done = run(BIN / "gyre", command, "-H", wrong, self.url)
                self.assertEqual((done.returncode, done.stderr.startswith(b"--header: ")), (2, True), done)
        for name, remedy in (("Transfer-Encoding", ": use --data for a body\n"), ("Expect", "\n"), ("Upgrade", "\n"),
                             ("proxy-authorization", ", from the user and the password in the URL of the proxy\n")):
            code, _, said = fetch("-H", f"{name}: x", self.url)
            self.assertEqual((code, f" is set by the program{remedy}" in said), (2, True), said)
        done = run(BIN / "gyre", "fetch", "-X", "M" * 33, self.url)
        self.assertEqual((done.returncode, done.stderr.startswith(b"--method: ")), (2, True), done)
        self.assertEqual(fetch("-H", "TE: trailers", "-H", "A:", self.url)[0], 0)
        self.assertIn("TE: trailers", self.heads[-1])


if __name__ == "__main__":
    unittest.main()
