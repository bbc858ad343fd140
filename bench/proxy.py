"""Proxies: small requests through HTTP proxies, and 1 GiB through TCP and HTTP proxies, with the processor time that
they need for it.

The proxy runs on one core. The client and the origin run on the other, and let the kernel drop what they receive. On
loopback they are the limit in many rows, so the processor time of the proxy says more than the rate.
"""

import json
import statistics
import tempfile
from pathlib import Path

from measure import load, output_of
from rounds import Ratio, in_turn
from servers import BIN, LOAD_CORE, NGINX_FOLDERS, Configuration, Server, gyre_program, nginx, on_each_backend, there

SIZE = 1 << 30
SMALL = ("gyre io_uring", "gyre epoll", "haproxy", "nginx")
WORK = [(what, connections) for connections in (1, 16, 200) for what in ("get", "put")]
STREAM_MODULE = Path("/usr/lib/nginx/modules/ngx_stream_module.so")


def haproxy(mode, upstream, options="", tuning=""):
    extra = "option forwardfor\n  http-reuse always" if mode == "http" else ""
    return ["haproxy", "-db", "-f", Configuration(f"""
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
  bind 127.0.0.1:{{port}}
  server origin 127.0.0.1:{upstream}
""")]


def nginx_http(upstream):
    return nginx(f"""http {{
  {NGINX_FOLDERS} client_max_body_size 0; client_body_buffer_size 64k; client_body_temp_path {{scratch}}/a;
  proxy_request_buffering off; proxy_max_temp_file_size 0;
  proxy_buffers 16 64k; proxy_buffer_size 64k; proxy_busy_buffers_size 128k;
  upstream origin {{ server 127.0.0.1:{upstream}; keepalive 128; keepalive_requests 1000000000; }}
  server {{
    listen 127.0.0.1:{{port}};
    location / {{
      proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_set_header Host $host; proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    }}
  }}
}}""")


def nginx_stream(upstream):
    return nginx(f"""stream {{
  proxy_buffer_size 64k;
  server {{ listen 127.0.0.1:{{port}}; proxy_pass 127.0.0.1:{upstream}; }}
}}""", f"load_module {STREAM_MODULE};")


def ours(kind, upstream):
    if kind == "TCP":
        return on_each_backend(BIN / "tcp_proxy", "127.0.0.1:0", f"127.0.0.1:{upstream}")
    return gyre_program("gyre", "proxy", "--to", f"http://127.0.0.1:{upstream}", "--access-log", "off")


def proxies(kind, upstream, arguments, names=None):
    """name -> command of the proxies of these names, or of all, as far as they are here and wanted."""
    # The kernel's default for pipes is 64 KiB, and HAProxy's for buffers 16 KiB.
    mode, buffers, pipes = kind.lower(), "tune.bufsize 65536", "tune.pipesize 262144"
    found = {**ours(kind, upstream), "haproxy": haproxy(mode, upstream),
             "haproxy 64 KiB": haproxy(mode, upstream, tuning=buffers),
             "haproxy splice": haproxy(mode, upstream, "option splice-auto", pipes)}
    if kind == "HTTP":
        found["nginx"] = nginx_http(upstream)
    elif STREAM_MODULE.exists():
        found["nginx"] = nginx_stream(upstream)
    return {name: command for name, command in there(found, arguments.only).items() if names is None or name in names}


def origin(command, scratch):
    """A server that shares its core with the load."""
    return Server("origin", command, scratch, cores={LOAD_CORE})


def transfer(what, port, size, connections, yields=False):
    """Returns the seconds. The checking forms print their checksums. `yields`: see pinned_to()."""
    *checksums, figures = output_of([BIN / "transfer", what, port, size, connections], 480, yields).splitlines()
    for line in checksums:
        print(f"{'':16}{line}", flush=True)
    return json.loads(figures)["seconds"]


def small(arguments, scratch, connections=64, seconds=2):
    """Requests for "Hello, World!" on connections that stay, to an origin on the core of the load."""
    with origin(gyre_program("hello_server")["gyre epoll"], scratch) as upstream:
        candidates = proxies("HTTP", upstream.port, arguments, SMALL)
        rows = {name: [] for name in candidates}
        for name, command in in_turn(candidates.items(), arguments.rounds):
            with Server(name, command, scratch) as running:
                load(running.port, "http:/", connections, 1, 1)
                before = running.processor_time()
                count = load(running.port, "http:/", connections, 1, seconds)["requests"]
                used = running.processor_time() - before
                rows[name].append({"rate": count / seconds, "cpu": used / count / 1e3})
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
        with origin([str(BIN / "transfer"), "origin"], scratch) as upstream:
            for kind in ("TCP", "HTTP"):
                compare(kind, upstream.port, arguments, scratch)
            if not arguments.only:
                check(upstream.port, scratch)


def compare(kind, upstream, arguments, scratch):
    candidates = proxies(kind, upstream, arguments)
    rows = {work: {name: [] for name in candidates} for work in WORK}
    for name, command in in_turn(candidates.items(), arguments.rounds):
        with Server(name, command, scratch) as running:
            for what, connections in WORK:
                before = running.processor_time()
                seconds = transfer(what, running.port, SIZE // connections, connections)
                used = running.processor_time() - before
                rows[what, connections][name].append({"rate": 1 / seconds, "cpu": used / 1e9})
    for (what, connections), runs in rows.items():
        print_table(f"{kind} proxy, {what} 1 GiB, {connections} connection{'s' if connections > 1 else ''}", runs,
                    ("GiB/s", ".2f"), ("cpu s/GiB", ".3f"))


def check(upstream, scratch):
    """10 GiB each way through gyre, over one connection and over 16, with checksums on both sides."""
    print("\nchecksums of 10 GiB through the proxies of gyre")
    for kind in ("TCP", "HTTP"):
        for name, command in ours(kind, upstream).items():
            print(f"{kind} {name}", flush=True)
            with Server(name, command, scratch) as running:
                for what in ("get-check", "put-check"):
                    for connections in (1, 16):  # several are spliced
                        transfer(what, running.port, (10 << 30) // connections, connections)
