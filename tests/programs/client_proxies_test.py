"""gyre fetch through proxies of others: squid, tinyproxy and dante. Each is skipped where it is not installed."""

import unittest

from fetch_test import fetch
from peer_support import WithPeers, command_of
from support import Serve, free_port

SQUID = """
http_port 127.0.0.1:{port}
acl forbidden url_regex forbidden
http_access deny forbidden
http_access allow all
cache deny all
cache_log {folder}/cache.log
access_log none
pid_filename none
coredump_dir {folder}
shutdown_lifetime 0 seconds
forwarded_for delete
"""

TINYPROXY = """
Port {port}
Listen 127.0.0.1
Timeout 60
MaxClients 20
LogLevel Critical
"""

DANTE = """
internal: 127.0.0.1 port = {port}
external: lo
socksmethod: none
clientmethod: none
user.privileged: root
user.unprivileged: root
client pass {{ from: 0.0.0.0/0 to: 0.0.0.0/0 }}
socks pass {{ from: 0.0.0.0/0 to: 0.0.0.0/0 }}
"""


class Proxies(WithPeers):
    def through(self, proxy):
        """Fetches through a proxy from a plain and an encrypted server."""
        pair = ("--tls-cert", self.chain, "--tls-key", self.key)
        with Serve(self.root) as plain, Serve(self.root, *pair) as secure:
            for url in (f"http://127.0.0.1:{plain.port}", f"https://127.0.0.1:{secure.port}"):
                with self.subTest(url=url, proxy=proxy):
                    arguments = ("--proxy", proxy, f"{url}/small", f"{url}/large", f"{url}/small")
                    self.assertEqual(self.fetched(*arguments), self.small + self.large + self.small)
                    self.fetched("--proxy", proxy, f"{url}/nothing", code=22)
            gone = free_port()
            for scheme in ("http", "https"):
                code, out, said = fetch("--proxy", proxy, f"{scheme}://127.0.0.1:{gone}/")
                self.assertNotEqual(code, 0, out)
                self.assertNotEqual(said, "")

    @unittest.skipUnless(command_of("squid"), "squid is not installed")
    def test_squid(self):
        port = free_port()
        self.start([command_of("squid"), "-N", "-f", self.configured("squid", SQUID, port=port)], port)
        self.through(f"http://127.0.0.1:{port}")
        code, out, said = fetch("--proxy", f"http://127.0.0.1:{port}", "http://forbidden.test/")
        self.assertEqual((code, b"ERR_ACCESS_DENIED" in out), (22, True), said)
        code, _, said = fetch("--proxy", f"http://127.0.0.1:{port}", "https://forbidden.test/")
        self.assertIn('the proxy refused the connection: it answered "403', said)

    @unittest.skipUnless(command_of("tinyproxy"), "tinyproxy is not installed")
    def test_tinyproxy(self):
        port = free_port()
        self.start([command_of("tinyproxy"), "-d", "-c", self.configured("tinyproxy", TINYPROXY, port=port)], port)
        self.through(f"http://127.0.0.1:{port}")

    @unittest.skipUnless(command_of("danted"), "dante is not installed")
    def test_dante(self):
        port = free_port()
        self.start([command_of("danted"), "-N", "1", "-f", self.configured("dante", DANTE, port=port)], port)
        for scheme in ("socks5", "socks5h"):
            self.through(f"{scheme}://127.0.0.1:{port}")


if __name__ == "__main__":
    unittest.main()
