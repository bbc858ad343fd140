"""gyre fetch with servers and proxies of others: nginx, Apache and Python; squid, tinyproxy and dante. Each is skipped
where it is not installed."""

import hashlib
import http.server
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest

from certificates import Authority
from fetch_test import fetch
from support import Serve

NGINX = """
worker_processes 1; daemon off; user root; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 100; }}
http {{
  access_log off; gzip on; gzip_types text/plain; gzip_min_length 100; default_type text/plain;
  client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
  uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
  server {{
    listen 127.0.0.1:{plain}; listen 127.0.0.1:{secure} ssl; root {root};
    ssl_certificate {chain}; ssl_certificate_key {key};
    location /moved/ {{ return 302 /small; }}
  }}
}}
"""

APACHE = """
ServerRoot {folder}
ServerName localhost
PidFile {folder}/pid
ErrorLog {folder}/error.log
Listen 127.0.0.1:{plain}
Listen 127.0.0.1:{secure}
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule alias_module {modules}/mod_alias.so
LoadModule filter_module {modules}/mod_filter.so
LoadModule deflate_module {modules}/mod_deflate.so
LoadModule mime_module {modules}/mod_mime.so
LoadModule socache_shmcb_module {modules}/mod_socache_shmcb.so
LoadModule ssl_module {modules}/mod_ssl.so
TypesConfig /dev/null
ForceType text/plain
SetOutputFilter DEFLATE
DocumentRoot {root}
Redirect 302 /moved/ /small
<VirtualHost *:{secure}>
  SSLEngine on
  SSLCertificateFile {chain}
  SSLCertificateKeyFile {key}
</VirtualHost>
"""

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


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as unused:
        return unused.getsockname()[1]


def command_of(name):
    return shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin")


class Peers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o777)  # some of these programs give up their rights
        self.root = self.folder / "root"
        self.root.mkdir()
        self.small = b"a small file\n" * 100
        self.large = os.urandom(5_000_000)
        (self.root / "small").write_bytes(self.small)
        (self.root / "large").write_bytes(self.large)
        os.utime(self.root / "large", (1_700_000_000, 1_700_000_000))  # Apache's tags are weak for a new file
        self.authority = Authority(self.folder)
        self.chain, self.key = self.authority.server("one", "localhost", "127.0.0.1")
        self.key.chmod(0o644)

    def start(self, command, port):
        """Starts a program that listens on this port, and ends it with the test."""
        errors = self.folder / "errors"
        with errors.open("w") as said:
            process = subprocess.Popen([str(part) for part in command], stdout=said, stderr=said, cwd=self.folder,
                                       start_new_session=True)
        self.addCleanup(process.wait)
        self.addCleanup(lambda: os.killpg(process.pid, signal.SIGKILL))
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                time.sleep(0.02)
        self.fail(f"{command[0]} did not start: {errors.read_text()}")

    def fetched(self, *arguments, code=0):
        got, out, said = fetch("--cacert", self.authority.certificate, *arguments)
        self.assertEqual(got, code, said)
        return out

    def check_server(self, url):
        self.assertEqual(self.fetched(f"{url}/small", f"{url}/small"), 2 * self.small)
        self.assertEqual(self.fetched(f"{url}/moved/"), self.small)
        self.assertEqual(hashlib.sha256(self.fetched(f"{url}/large")).digest(), hashlib.sha256(self.large).digest())
        head = self.fetched("-I", f"{url}/large").decode()
        self.assertTrue(head.startswith("HTTP/1.1 200 OK\r\n"), head)
        self.fetched(f"{url}/nothing", code=22)
        self.fetched("-d", "x=1", f"{url}/small/not/here", code=22)
        with tempfile.TemporaryDirectory() as out:
            self.fetched("-s", "-O", "--parallel", 4, "--output-dir", out, f"{url}/small", f"{url}/large")
            self.assertEqual(pathlib.Path(out, "large").read_bytes(), self.large)

    def check_resume(self, url):
        """Continues a file with the validator that this server has given for it."""
        fields = self.fetched("-I", "-H", "Accept-Encoding: identity", f"{url}/large").decode().split("\r\n")
        tag = next(line.split(": ", 1)[1] for line in fields if line.lower().startswith("etag: "))
        with tempfile.TemporaryDirectory() as out:
            pathlib.Path(out, "large.part").write_bytes(self.large[:1_000_000])
            pathlib.Path(out, "large.part.from").write_text(f"{url}/large\n{tag}\n")
            code, _, said = fetch("--cacert", self.authority.certificate, "-O", "-C", "--output-dir", out,
                                  f"{url}/large")
            self.assertEqual(code, 0, said)
            self.assertIn("after 976.6 KiB of before", said)
            self.assertEqual(pathlib.Path(out, "large").read_bytes(), self.large)

    def configured(self, name, text, **values):
        file = self.folder / f"{name}.conf"
        file.write_text(text.format(folder=self.folder, root=self.root, chain=self.chain, key=self.key, **values))
        return file

    def check_both(self, plain, secure):
        for url in (f"http://127.0.0.1:{plain}", f"https://localhost:{secure}"):
            self.check_server(url)
            self.check_resume(url)

    @unittest.skipUnless(command_of("nginx"), "nginx is not installed")
    def test_nginx(self):
        plain, secure = free_port(), free_port()
        configuration = self.configured("nginx", NGINX, plain=plain, secure=secure)
        self.start([command_of("nginx"), "-e", "stderr", "-c", configuration], plain)
        self.check_both(plain, secure)

    @unittest.skipUnless(command_of("apache2") and os.path.exists("/usr/lib/apache2/modules/mod_ssl.so"),
                         "Apache is not installed")
    def test_apache(self):
        plain, secure = free_port(), free_port()
        configuration = self.configured("apache", APACHE, plain=plain, secure=secure,
                                        modules="/usr/lib/apache2/modules")
        self.start([command_of("apache2"), "-X", "-f", configuration], plain)
        self.check_both(plain, secure)

    def test_python(self):
        root = str(self.root)

        class Files(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *arguments):
                super().__init__(*arguments, directory=root)

            def do_GET(self):
                if self.path == "/moved/":
                    self.send_response(302)
                    self.send_header("Location", "/small")
                    self.end_headers()
                else:
                    super().do_GET()

            def log_message(self, *_):
                pass

        for version in ("HTTP/1.0", "HTTP/1.1"):
            for encrypted in (False, True):
                with self.subTest(version=version, encrypted=encrypted):
                    handler = type("Handler", (Files,), {"protocol_version": version})
                    if version == "HTTP/1.1":
                        handler.end_headers = end_of_body(handler.end_headers)
                    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
                    if encrypted:
                        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                        context.load_cert_chain(self.chain, self.key)
                        server.socket = context.wrap_socket(server.socket, server_side=True)
                    threading.Thread(target=server.serve_forever, daemon=True).start()
                    scheme = "https" if encrypted else "http"
                    self.check_python(f"{scheme}://localhost:{server.server_address[1]}", version)
                    server.shutdown()
                    server.server_close()

    def check_python(self, url, version):
        self.assertEqual(self.fetched(f"{url}/small", f"{url}/small"), 2 * self.small)
        self.assertEqual(self.fetched(f"{url}/moved/"), self.small)
        self.assertEqual(self.fetched(f"{url}/large"), self.large)
        self.assertIn(b"200 OK\r\n", self.fetched("-I", f"{url}/large"), version)
        self.fetched(f"{url}/nothing", code=22)

    # ---- proxies

    def through(self, proxy):
        """Fetches through a proxy from a plain and an encrypted server."""
        pair = ("--tls-cert", self.chain, "--tls-key", self.key)
        with Serve(self.root) as plain, Serve(self.root, *pair) as secure:
            for url in (f"http://127.0.0.1:{plain.port}", f"https://127.0.0.1:{secure.port}"):
                with self.subTest(url=url, proxy=proxy):
                    arguments = ("--proxy", proxy, f"{url}/small", f"{url}/large", f"{url}/small")
                    self.assertEqual(self.fetched(*arguments), self.small + self.large + self.small)
                    self.fetched("--proxy", proxy, f"{url}/nothing", code=22)
            with socket.create_server(("127.0.0.1", 0)) as unused:
                gone = unused.getsockname()[1]
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
        self.assertIn("the proxy refused the connection: 403", said)

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


def end_of_body(end_headers):
    """HTTP/1.1 needs a length for the answers that Python's server gives without one."""
    def with_length(self):
        if not any(line.lower().startswith(b"content-length") for line in self._headers_buffer):
            self.send_header("Content-Length", "0")
        end_headers(self)
    return with_length


if __name__ == "__main__":
    unittest.main()
