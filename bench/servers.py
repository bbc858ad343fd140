"""The servers that the benchmarks compare, their configurations, and the one place that starts them."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / "build/release/bin"
BUILT = ROOT / "build/bench"
TOKIO = BUILT / "tokio/release"
TICK = os.sysconf("SC_CLK_TCK")
CORES = sorted(os.sched_getaffinity(0))
SERVER_CORE, LOAD_CORE = CORES[0], CORES[-1]
BACKENDS = ("io_uring", "epoll")


class Configuration(str):
    """A word of a command that stands for a file with this text. Server fills in {port} and {scratch}."""


class Server:
    """A running server, ended when the block is left. A command with {port} in it is told where to listen; another one
    prints it. `cores`: None for all."""

    def __init__(self, name, command, scratch, cores=CORES[:1]):
        self.name = name
        told = any("{port}" in word for word in command)
        if told:
            self.port = free_port()
        self.process = subprocess.Popen([self.filled(word, scratch) for word in command], stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, preexec_fn=cores and pinned_to(cores))
        if not (self.wait_until_connected() if told else self.wait_until_printed()):
            self.__exit__()
            raise SystemExit(f"bench: {name} did not start: {command}")

    def filled(self, word, scratch):
        text = word.replace("{scratch}", str(scratch))
        text = text.replace("{port}", str(self.port)) if "{port}" in word else text
        if not isinstance(word, Configuration):
            return text
        file = Path(scratch, f"configuration-{self.port}")
        file.write_text(text)
        return str(file)

    def wait_until_printed(self):
        for line in self.process.stdout:
            if found := re.search(r"listening on \S+:(\d+)", line):
                self.port = int(found.group(1))
                return True
        return False

    def wait_until_connected(self):
        for _ in range(500):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return True
            except OSError:
                time.sleep(0.02)
        return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def processes(self):
        """Its own and its children: nginx serves in one."""
        return [self.process.pid,
                *Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()]

    def cpu(self):
        """Seconds in user space and in the kernel."""
        user = system = 0
        for pid in self.processes():
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            user, system = user + int(fields[11]), system + int(fields[12])
        return user / TICK, system / TICK

    def processor_time(self):
        """Nanoseconds, from the scheduler: cpu() samples, and misses short turns."""
        return sum(int(task.read_text().split()[0]) for pid in self.processes()
                   for task in Path(f"/proc/{pid}/task").glob("*/schedstat"))

    def sleeps(self):
        """How often the threads that it has now had nothing to do and waited."""
        count = 0
        for pid in self.processes():
            for task in Path(f"/proc/{pid}/task").iterdir():
                with contextlib.suppress(OSError):  # the thread has ended
                    status = (task / "status").read_text()
                    count += int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", status, re.M).group(1))
        return count

    def resident(self):
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def pinned_to(cores, yields=False):
    """What a process does before it begins. With `yields`, others of the core run whenever they can."""
    def pin():
        os.sched_setaffinity(0, cores)
        if yields:
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    return pin


def there(found, only):
    """Those that are built and installed here, and wanted."""
    return {name: command for name, command in found.items()
            if shutil.which(command[2] if command[0] == "env" else command[0]) and
            (not only or any(word in name for word in only))}


def on_each_backend(*command):
    """name -> command of a program of gyre."""
    return {f"gyre {backend}": ["env", f"GYRE_BACKEND={backend}", *map(str, command)] for backend in BACKENDS}


def gyre_program(name, *arguments):
    return on_each_backend(BIN / name, *arguments, "--listen", "127.0.0.1:0")


def nginx(http, module="", workers=1):
    """An nginx whose block "http" or "stream" has this text."""
    text = f"""{module}
user root; daemon off; worker_processes {workers}; pid {{scratch}}/nginx.pid; error_log stderr crit;
events {{ worker_connections 20000; }}
{http}
"""
    return ["nginx", "-p", "{scratch}", "-e", "stderr", "-c", Configuration(text)]


NGINX_FOLDERS = """access_log off; keepalive_requests 1000000000; proxy_temp_path {scratch}/b;
  fastcgi_temp_path {scratch}/c; uwsgi_temp_path {scratch}/d; scgi_temp_path {scratch}/e;"""


def nginx_files(files="/nonexistent", workers=1, tls=None):
    """Sends and receives files, and "Hello, World!" for "/". `tls`: the files of a chain and its key."""
    bodies = files if Path(files).is_dir() else "{scratch}"  # a received file is renamed, not copied
    encrypted = f"""ssl_certificate {tls[0]}; ssl_certificate_key {tls[1]};
    ssl_protocols TLSv1.2 TLSv1.3; ssl_session_tickets on;""" if tls else ""
    return nginx(f"""http {{
  {NGINX_FOLDERS} sendfile on; tcp_nopush off;
  default_type text/plain; server_tokens off;
  open_file_cache max=100;
  server {{
    listen 127.0.0.1:{{port}} {"ssl" if tls else ""} backlog=4096; {encrypted} root {files};
    location = / {{ return 200 "Hello, World!"; }}
    dav_methods PUT; client_max_body_size 0; client_body_temp_path {bodies}/nginx;
  }}
}}""", workers=workers)


def hello_servers():
    return {"bare io_uring": [str(BIN / "bare_uring_http")], "bare epoll": [str(BIN / "bare_epoll_http")],
            **gyre_program("hello_server"),
            "hyper": [str(TOKIO / "hyper_http")], "axum": [str(TOKIO / "axum_http")],
            "beast": [str(BIN / "beast_http")], "uWebSockets": [str(BIN / "uws_http")],
            "Go net/http": [str(BUILT / "go_http")],
            "Node": ["node", str(ROOT / "bench/peers/node/node_http.js")], "nginx": nginx_files()}


def servers(work, only):
    """name -> command of what is built and installed here. `work`: "http", "echo" or "resp"."""
    if work == "http":
        return there(hello_servers(), only)
    found = {"bare io_uring": [str(BIN / f"bare_uring_{work}")], "bare epoll": [str(BIN / f"bare_epoll_{work}")],
             **gyre_program(f"{work}_server"),
             "asio": [str(BIN / f"asio_{work}")], "libuv": [str(BIN / f"uv_{work}")],
             "tokio": [str(TOKIO / f"tokio_{work}")]}
    if work == "resp":
        found["redis-server"] = REDIS
    return there(found, only)


REDIS = ["redis-server", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--port", "{port}", "--dir",
         "{scratch}"]


def file_servers(files, *tls_flags, tls=None):
    return {**gyre_program("gyre", "serve", files, "--access-log", "off", *tls_flags),
            "nginx": nginx_files(files, tls=tls)}


def make_files(folder):
    for name, size in (("1K", 1 << 10), ("64K", 64 << 10), ("100M", 100 << 20)):
        Path(folder, name).write_bytes(b"x" * size)


def build_peers():
    """The peers in Go and Rust, as far as this machine can build them."""
    manifest = ROOT / "bench/peers/tokio/Cargo.toml"
    if shutil.which("cargo"):
        subprocess.run(["cargo", "build", "--release", "--quiet", "--manifest-path", str(manifest), "--target-dir",
                        str(BUILT / "tokio")], check=False, timeout=600)
    if shutil.which("go"):
        BUILT.mkdir(parents=True, exist_ok=True)
        for name in ("go_http", "go_upload", "go_requests"):
            subprocess.run(["go", "build", "-o", str(BUILT / name), str(ROOT / f"bench/peers/go/{name}.go")],
                           check=False, timeout=600)
