"""gyre fetch and gyre load: where the user name and the password of a URL go, and where they do not."""

import os
import stat
import unittest

from fetch_test import fetch
from scripted import Scripted, read_head
from support import BIN, free_port, run, temporary_folder

BASIC = "Authorization: Basic YW5uOnNlY3JldA=="  # ann:secret


class Credentials(unittest.TestCase):
    def setUp(self):
        self.out = temporary_folder(self)
        self.heads = []
        self.answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"

        def serve(peer, _):
            self.heads.append(read_head(peer).split("\r\n"))
            peer.sendall(self.answer)

        server = self.enterContext(Scripted(serve))
        self.port = server.port
        self.url = f"http://ann:secret@127.0.0.1:{server.port}/x"

    def test_files_beside_an_unfinished_download_hold_no_password(self):
        self.answer = b'HTTP/1.1 200 OK\r\nETag: "v1"\r\nContent-Length: 9\r\n\r\nabc'
        old = os.umask(0)
        try:
            code, _, said = fetch("-O", self.url, cwd=self.out)
        finally:
            os.umask(old)
        self.assertEqual((code, sorted(os.listdir(self.out))), (18, ["x.part", "x.part.from"]))
        self.assertEqual(stat.S_IMODE((self.out / "x.part.from").stat().st_mode), 0o600)
        for text in (said, *(each.read_text() for each in self.out.iterdir())):
            self.assertNotIn("secret", text)
            self.assertNotIn("ann", text)
        self.assertIn(BASIC, self.heads[0])
        fetch("-O", "-C", self.url, cwd=self.out)
        self.assertIn("Range: bytes=3-", self.heads[1])

    def test_messages_show_no_password(self):
        port = free_port()
        secret = f"http://ann:secret@127.0.0.1:{port}/"
        cases = [(("fetch", secret), {}), (("fetch", "-m", "0.001", secret), {}), (("load", secret), {}),
                 (("load", "-n", "1", "-c", "1", self.url), {}),
                 (("load", "--json", "-n", "1", "-c", "1", self.url), {}),
                 (("fetch", "http://ann:secret@127.0.0.1:x/"), {}), (("fetch", "ann:secret@127.0.0.1"), {}),
                 (("fetch", "socks5://ann:secret@127.0.0.1/"), {}), (("load", "ftp://ann:secret@127.0.0.1/"), {}),
                 (("proxy", "--to", "htp://ann:secret@127.0.0.1/"), {}),
                 (("fetch", "-x", "https://ann:secret@p", self.url), {}), (("fetch", "-x", secret, self.url), {}),
                 (("fetch", "-x", secret, "https://127.0.0.1/"), {}), (("fetch", self.url), {"http_proxy": secret}),
                 (("fetch", self.url), {"http_proxy": "https://ann:secret@p"}),
                 (("fetch", "-x", secret.replace("http", "socks5"), self.url), {}),
                 (("fetch", "-H", "Authorization secret ann", self.url), {}),
                 (("load", self.url, secret), {}), (("fetch", "--nonsense", secret), {})]
        for arguments, variables in cases:
            done = run(BIN / "gyre", *arguments, env={**os.environ, **variables})
            said = (done.stdout + done.stderr).decode()
            self.assertNotIn("secret", said, arguments)
            self.assertNotIn("ann", said, arguments)

    def test_a_redirect_that_fails_shows_no_password(self):
        for location in ("ftp://ann:secret@a.test/", "http://ann:secret@a:b/", "//ann:secret@[/", "/x"):
            self.answer = f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode()
            code, _, said = fetch(self.url)
            self.assertEqual((code in (8, 47), "secret" in said), (True, False), said)
        self.answer = self.answer.replace(b"/x", self.url.encode())
        for most in ("1", "10"):
            code, _, said = fetch("--max-redirs", most, self.url)
            self.assertEqual((code, "secret" in said), (47, False), said)

    def test_a_load_uses_the_credentials_of_its_url(self):
        for flags in ((), ("-H", "Authorization: Bearer x")):
            self.heads.clear()
            self.assertEqual(run(BIN / "gyre", "load", "-n", "1", "-c", "1", *flags, self.url).returncode, 0)
            seen = [line for line in self.heads[-1] if line.startswith("Authorization")]
            self.assertEqual(seen, [flags[1]] if flags else [BASIC])
            self.assertEqual(self.heads[-1][0], "GET /x HTTP/1.1")


if __name__ == "__main__":
    unittest.main()
