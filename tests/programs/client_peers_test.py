"""gyre fetch with servers of others: nginx, Apache, Node, Go and Python. Each is skipped where it is not installed."""

import hashlib
import http.server
import os
import pathlib
import ssl
import tempfile
import unittest

from fetch_test import fetch
from peer_support import WithPeers, command_of
from peers import built
from support import free_port, serve_in_thread

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

NODE = """
const fs = require("fs"), http = require("http"), https = require("https");
const [root, plain, secure, chain, key] = process.argv.slice(2);
function answer(request, response) {
  if (request.url === "/moved/") return response.writeHead(302, {Location: "/small"}).end();
  const file = root + request.url;
  if (!fs.existsSync(file)) return response.writeHead(404).end("nothing");
  response.writeHead(200, {"Content-Type": "text/plain"});  // in chunks
  if (request.method === "HEAD") return response.end();
  fs.createReadStream(file).pipe(response);
}
http.createServer(answer).listen(plain, "127.0.0.1");
https.createServer({cert: fs.readFileSync(chain), key: fs.readFileSync(key)}, answer).listen(secure, "127.0.0.1");
"""


class Servers(WithPeers):
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
            pathlib.Path(out, "large.part.from").write_text(
                f"gyre fetch, unfinished\n{url}/large\n{tag}\n{len(self.large)}\n")
            code, _, said = fetch("--cacert", self.authority.certificate, "-O", "-C", "--output-dir", out,
                                  f"{url}/large")
            self.assertEqual(code, 0, said)
            self.assertIn("after 976.6 KiB of before", said)
            self.assertEqual(pathlib.Path(out, "large").read_bytes(), self.large)

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

    @unittest.skipUnless(command_of("node"), "Node is not installed")
    def test_node(self):
        plain, secure = free_port(), free_port()
        script = self.folder / "server.js"
        script.write_text(NODE)
        self.start([command_of("node"), script, self.root, plain, secure, self.chain, self.key], plain)
        for url in (f"http://127.0.0.1:{plain}", f"https://localhost:{secure}"):
            self.check_server(url)

    @unittest.skipUnless(command_of("go"), "Go is not installed")
    def test_go(self):
        plain, secure = free_port(), free_port()
        program = built(pathlib.Path(__file__).parent / "servers/files.go")
        self.start([program, self.root, plain, secure, self.chain, self.key], secure)
        for url in (f"http://127.0.0.1:{plain}", f"https://localhost:{secure}"):
            self.check_server(url)

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
                    serve_in_thread(server)
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


def end_of_body(end_headers):
    """HTTP/1.1 needs a length for the answers that Python's server gives without one."""
    def with_length(self):
        if not any(line.lower().startswith(b"content-length") for line in self._headers_buffer):
            self.send_header("Content-Length", "0")
        end_headers(self)
    return with_length


if __name__ == "__main__":
    unittest.main()
