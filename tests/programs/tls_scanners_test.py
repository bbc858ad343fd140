"""gyre serve over TLS as sslscan and testssl.sh see it. Each is skipped where it is not installed."""

import json
import re
import shutil
import subprocess
import unittest

from certificates import Authority
from support import Serve, run, skip_without, temporary_folder

skip_without("openssl")


class Scanners(unittest.TestCase):
    def setUp(self):
        self.folder = temporary_folder(self)
        (self.folder / "root").mkdir()
        (self.folder / "root/index.html").write_text("hello")
        self.authority = Authority(self.folder)
        chain, key = self.authority.server("one", "localhost", "127.0.0.1")
        self.pair = ("--tls-cert", chain, "--tls-key", key)

    @unittest.skipUnless(shutil.which("sslscan"), "sslscan is not installed")
    def test_sslscan_finds_only_what_is_meant_to_be_offered(self):
        with Serve(self.folder / "root", *self.pair) as server:
            said = run("sslscan", "--no-colour", f"localhost:{server.port}").stdout.decode()
        offered = dict(re.findall(r"^(SSLv[23]|TLSv1\.[0-3]) +(enabled|disabled)$", said, re.M))
        self.assertEqual([name for name, state in offered.items() if state == "enabled"], ["TLSv1.2", "TLSv1.3"], said)
        self.assertIn("Session renegotiation not supported", said)
        self.assertNotIn(" vulnerable to", said.replace("not vulnerable to", ""))
        ciphers = re.findall(r"^(?:Preferred|Accepted) +\S+ +\d+ bits +(\S+)", said, re.M)
        self.assertGreaterEqual(len(ciphers), 6, said)
        for each in ciphers:
            self.assertRegex(each, "GCM|CHACHA20")
            self.assertRegex(each, "^(TLS_|ECDHE-)")

    @unittest.skipUnless(shutil.which("testssl"), "testssl.sh is not installed")
    def test_testssl_has_no_finding_above_info(self):
        report = self.folder / "report.json"
        with Serve(self.folder / "root", *self.pair) as server:
            subprocess.run(["testssl", "--quiet", "--warnings", "batch", "--color", "0", "--add-ca",
                            self.authority.certificate, "--jsonfile", report, "-p", "-s", "-f", "-P", "-U",
                            f"localhost:{server.port}"], stdin=subprocess.DEVNULL, capture_output=True, timeout=480)
        findings = json.loads(report.read_text())
        self.assertGreater(len(findings), 40)
        worse = [each for each in findings if each["severity"] in ("LOW", "MEDIUM", "HIGH", "CRITICAL", "WARN")
                 and each["id"] != "engine_problem"]  # that is one of the scanner's own
        self.assertEqual(worse, [])


if __name__ == "__main__":
    unittest.main()
