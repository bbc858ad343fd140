"""Proxies: small requests through HTTP proxies, and 1 GiB through TCP and HTTP proxies, with the processor time that
they need for it.

The proxy runs on one core. The client and the origin run on the other, and let the kernel drop what they receive. On
loopback they are the limit in many rows, so the processor time of the proxy says more than the rate.
"""

import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from measure import BIN, LOAD_CORE, SERVER_CORE, on_load_core
from partial import processor_time
from rounds import Ratio, in_turn

SIZE = 1 << 30
SMALL = ("gyre io_uring", "gyre epoll", "haproxy", "nginx")
WORK = [(what, connections) for connections in (1, 16, 200) for what in ("get", "put")]

HAPROXY = """
global
  nbthread 1
  maxconn 1000
  {tuning}
defaults
  mode {mode}
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  {options}
  {extra}
listen proxy
  bind 127.0.0.1:{port}
  server origin 127.0.0.1:{upstream}
"""

NGINX = """
{module}
user root; daemon off; worker_processes 1; pid {scratch}/nginx.pid; error_log stderr crit;
events {{ worker_connections 1000; }}
{body}
"""

NGINX_HTTP = """http {{
  access_log off; client_max_body_size 0; client_body_buffer_size 64k;
  proxy_request_buffering off; proxy_max_temp_file_size 0;
  proxy_buffers 16 64k; proxy_buffer_size 64k; proxy_busy_buffers_size 128k;
  client_body_temp_path {scratch}/a; proxy_temp_path {scratch}/b; fastcgi_temp_path {scratch}/c;
  uwsgi_temp_path {scratch}/d; scgi_temp_path {scratch}/e;
  keepalive_requests 1000000000;
  upstream origin {{ server 127.0.0.1:{upstream}; keepalive 128; keepalive_requests 1000000000; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_set_header Host $host; proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    }}
  }}
}}"""

STREAM_MODULE = Path("/usr/lib/nginx/modules/ngx_stream_module.so")
NGINX_STREAM = """stream {{
  proxy_buffer_size 64k;
  server {{ listen 127.0.0.1:{port}; proxy_pass 127.0.0.1:{upstream}; }}
}}"""


def haproxy(mode, options="", tuning=""):
    extra = "option forwardfor\n  http-reuse always" if mode == "http" else ""

    def command(port, upstream, scratch):
        configuration = Path(scratch, f"haproxy-{port}.cfg")
        configuration.write_text(HAPROXY.format(mode=mode, options=options, extra=extra, tuning=tuning, port=port,
                                                upstream=upstream))
        return ["haproxy", "-db", "-f", str(configuration)]
    return command


def nginx(body, module=""):
    def command(port, upstream, scratch):
        configuration = Path(scratch, f"nginx-{port}.conf")
        filled = body.format(scratch=scratch, port=port, upstream=upstream)
        configuration.write_text(NGINX.format(module=module, scratch=scratch, body=filled))
        return ["nginx", "-p", str(scratch), "-e", "stderr", "-c", str(configuration)]
    return command


def gyre(kind, backend):
    def command(port, upstream, _):
        listen, origin = f"127.0.0.1:{port}", f"127.0.0.1:{upstream}"
        program = [str(BIN / "tcp_proxy"), listen, origin]
        if kind == "HTTP":
            program = [str(BIN / "gyre"), "proxy", "--listen", listen, "--to", f"http://{origin}"]
            program += ["--access-log", "off"]
        return ["env", f"GYRE_BACKEND={backend}", *program]
    return command


def proxies(kind):
    """name -> a function that makes the command."""
    found = {f"gyre {backend}": gyre(kind, backend) for backend in ("io_uring", "epoll")}
    if shutil.which("haproxy"):
        # The kernel's default for pipes is 64 KiB, and HAProxy's for buffers 16 KiB.
        splices = "option splice-auto"
        buffers, pipes = "tune.bufsize 65536", "tune.pipesize 262144"
        found |= {"haproxy": haproxy(kind.lower()), "haproxy 64 KiB": haproxy(kind.lower(), tuning=buffers),
                  "haproxy splice": haproxy(kind.lower(), splices, pipes)}
    if shutil.which("nginx") and kind == "HTTP":
        found["nginx"] = nginx(NGINX_HTTP)
    if shutil.which("nginx") and kind == "TCP" and STREAM_MODULE.exists():
        found["nginx"] = nginx(NGINX_STREAM, f"load_module {STREAM_MODULE};")
    return found


def chosen(kind, arguments, names=None):
    """The proxies of these names, or all, as far as the arguments want them."""
    return {name: make for name, make in proxies(kind).items() if (names is None or name in names) and
            (not arguments.only or any(word in name for word in arguments.only))}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Proxy:
    """A running proxy, ended when the block is left."""

    def __init__(self, make_command, upstream, scratch):
        self.port = free_port()
        self.process = subprocess.Popen(make_command(self.port, upstream, scratch), stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL,
                                        preexec_fn=lambda: os.sched_setaffinity(0, {SERVER_CORE}))

    def __enter__(self):
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return self
            except OSError:
                time.sleep(0.02)
        raise SystemExit(f"bench: {self.process.args} did not start")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(15)

    def processes(self):
        """Its own and its children: nginx serves in one."""
        return [self.process.pid,
                *Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()]


def transfer(what, port, size, connections, yields=False):
    """Returns the seconds. The checking forms print their checksums. `yields`: see on_load_core()."""
    done = subprocess.run([str(BIN / "transfer"), what, str(port), str(size), str(connections)], capture_output=True,
                          text=True, timeout=600, preexec_fn=on_load_core(yields))
    if done.returncode != 0:
        raise SystemExit(f"bench: the transfer failed: {done.stdout}{done.stderr}")
    *checksums, figures = done.stdout.splitlines()
    for line in checksums:
        print(f"{'':16}{line}", flush=True)
    return json.loads(figures)["seconds"]


def start_origin():
    origin = subprocess.Popen([str(BIN / "transfer"), "origin"], stdout=subprocess.PIPE, text=True,
                              preexec_fn=on_load_core())
    return origin, int(origin.stdout.readline().rsplit(":", 1)[1])


def small(arguments, scratch, connections=64, seconds=2):
    """Requests for "Hello, World!" on connections that stay, to an origin on the core of the load."""
    upstream = free_port()
    origin = subprocess.Popen([str(BIN / "hello_server"), "--backend", "epoll", "--listen", f"127.0.0.1:{upstream}"],
                              stdout=subprocess.PIPE, preexec_fn=on_load_core())
    origin.stdout.readline()
    candidates = chosen("HTTP", arguments, SMALL)
    rows = {name: [] for name in candidates}
    try:
        for name, make in in_turn(candidates.items(), arguments.rounds):
            with Proxy(make, upstream, scratch) as running:
                def load(length):
                    done = subprocess.run(["taskset", "-c", str(LOAD_CORE), "wrk", "-t1", f"-c{connections}",
                                           f"-d{length}s", f"http://127.0.0.1:{running.port}/"], capture_output=True,
                                          text=True, timeout=60, check=True).stdout
                    if "Socket errors" in done or "Non-2xx" in done:
                        raise SystemExit(f"bench: {name}: {done}")
                    return int(re.search(r"(\d+) requests in", done).group(1))

                load(1)
                before = processor_time(running)
                count = load(seconds)
                used = processor_time(running) - before
                rows[name].append({"rate": count / seconds, "cpu": used / count / 1e3})
    finally:
        origin.terminate()
        origin.wait()
    print_table(f"HTTP proxy, hello, {connections} connections", rows, ("req/s", ",.0f"), ("cpu us/req", ".2f"))


def print_table(title, rows, rate, cpu):
    """`rows`: name -> runs with "rate" and "cpu". `rate` and `cpu`: the unit and the format of each. The first row is
    the base of the ratios."""
    base = next(iter(rows.values()))
    print(f"\n{title}\n{'':16}{'ratio':>22}{rate[0]:>10}{cpu[0]:>11}{'cpu ratio':>22}")
    for name, each in sorted(rows.items(), key=lambda row: -statistics.median(run["rate"] for run in row[1])):
        line = f"{name:16}"
        for key, (_, form), width in (("rate", rate, 10), ("cpu", cpu, 11)):
            values = [run[key] for run in each]
            ratio = str(Ratio(values, [run[key] for run in base]))
            middle = f"{statistics.median(values):>{width}{form}}"
            line += f"{ratio:>22}{middle}" if key == "rate" else f"{middle}{ratio:>22}"
        print(line, flush=True)


def proxy(arguments):
    with tempfile.TemporaryDirectory() as scratch:
        small(arguments, scratch)
    origin, upstream = start_origin()
    try:
        with tempfile.TemporaryDirectory() as scratch:
            for kind in ("TCP", "HTTP"):
                compare(kind, upstream, arguments, scratch)
            if not arguments.only:
                check(upstream, scratch)
    finally:
        origin.terminate()
        origin.wait()


def compare(kind, upstream, arguments, scratch):
    candidates = chosen(kind, arguments)
    rows = {work: {name: [] for name in candidates} for work in WORK}
    for name, make in in_turn(candidates.items(), arguments.rounds):
        with Proxy(make, upstream, scratch) as running:
            for what, connections in WORK:
                before = processor_time(running)
                seconds = transfer(what, running.port, SIZE // connections, connections)
                used = processor_time(running) - before
                rows[what, connections][name].append({"rate": 1 / seconds, "cpu": used / 1e9})
    for (what, connections), runs in rows.items():
        print_table(f"{kind} proxy, {what} 1 GiB, {connections} connection{'s' if connections > 1 else ''}", runs,
                    ("GiB/s", ".2f"), ("cpu s/GiB", ".3f"))


def check(upstream, scratch):
    """10 GiB each way through gyre, over one connection and over 16, with checksums on both sides."""
    print("\nchecksums of 10 GiB through the proxies of gyre")
    for kind in ("TCP", "HTTP"):
        for backend in ("io_uring", "epoll"):
            print(f"{kind} {backend}", flush=True)
            with Proxy(gyre(kind, backend), upstream, scratch) as running:
                for what in ("get-check", "put-check"):
                    for connections in (1, 16):  # several are spliced
                        transfer(what, running.port, (10 << 30) // connections, connections)
