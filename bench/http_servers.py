"""The HTTP comparison of bench/run.py: who answers "Hello, World!" and sends files, and with which settings."""

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / "build/release/bin"
BUILT = ROOT / "build/bench"

NGINX = """
user root; daemon off; worker_processes {workers}; pid {scratch}/nginx.pid; error_log stderr crit;
events {{ worker_connections 20000; }}
http {{
  access_log off; sendfile on; tcp_nopush off; keepalive_requests 1000000000;
  default_type text/plain; server_tokens off;
  open_file_cache max=100;
  proxy_temp_path {scratch}/b; fastcgi_temp_path {scratch}/c;
  uwsgi_temp_path {scratch}/d; scgi_temp_path {scratch}/e;
  server {{
    listen 127.0.0.1:{port} {tls} root {files};
    location = / {{ return 200 "Hello, World!"; }}
    dav_methods PUT; client_max_body_size 0; client_body_temp_path {bodies}/nginx;
  }}
}}
"""


def nginx(scratch, port, files, workers=1, tls=None):
    """The command of an nginx that is set up in `scratch`."""
    configuration = Path(scratch, "nginx.conf")
    bodies = files if Path(files).is_dir() else scratch  # a received file is renamed, not copied
    listen = "backlog=4096;"
    if tls:  # the files of a chain and its key
        listen = (f"ssl backlog=4096; ssl_certificate {tls[0]}; ssl_certificate_key {tls[1]}; "
                  "ssl_protocols TLSv1.2 TLSv1.3; ssl_session_tickets on;")
    configuration.write_text(NGINX.format(scratch=scratch, port=port, files=files, bodies=bodies,
                                           workers=workers, tls=listen))
    return ["nginx", "-p", str(scratch), "-e", "stderr", "-c", str(configuration)]


def hello_servers():
    return {"bare io_uring": [str(BIN / "bare_uring_http")], "bare epoll": [str(BIN / "bare_epoll_http")],
            "gyre io_uring": ["env", "GYRE_BACKEND=io_uring", str(BIN / "hello_server"), "--listen", "127.0.0.1:0"],
            "gyre epoll": ["env", "GYRE_BACKEND=epoll", str(BIN / "hello_server"), "--listen", "127.0.0.1:0"],
            "hyper": [str(BUILT / "tokio/release/hyper_http")], "axum": [str(BUILT / "tokio/release/axum_http")],
            "beast": [str(BIN / "beast_http")], "uWebSockets": [str(BIN / "uws_http")],
            "Go net/http": [str(BUILT / "go_http")],
            "Node": ["node", str(ROOT / "bench/peers/node/node_http.js")], "nginx": ["nginx"]}


def file_servers(files):
    ours = [str(BIN / "gyre"), "serve", str(files), "--listen", "127.0.0.1:0", "--access-log", "off"]
    return {"gyre io_uring": ["env", "GYRE_BACKEND=io_uring", *ours],
            "gyre epoll": ["env", "GYRE_BACKEND=epoll", *ours],
            "nginx": ["nginx"]}


def make_files(folder):
    for name, size in (("1K", 1 << 10), ("64K", 64 << 10), ("100M", 100 << 20)):
        Path(folder, name).write_bytes(b"x" * size)


def build_peers():
    if shutil.which("go"):
        BUILT.mkdir(parents=True, exist_ok=True)
        for name in ("go_http", "go_upload", "go_requests"):
            subprocess.run(["go", "build", "-o", str(BUILT / name), str(ROOT / f"bench/peers/go/{name}.go")],
                           check=False, timeout=600)
