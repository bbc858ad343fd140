"""HTTPS: handshakes, and requests on encrypted connections: for bench/run.py. gyre and nginx with the same OpenSSL, and
hyper with rustls, each on one core, with the same certificate."""

import socket
import ssl
import subprocess
import tempfile
from pathlib import Path

from measure import load, output_of
from rounds import Ratio, in_turn
from servers import BIN, LOAD_CORE, TOKIO, Server, file_servers, gyre_program, make_files, nginx_files, there


def make_certificate(scratch):
    pair = Path(scratch, "chain.pem"), Path(scratch, "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-days", "30", "-keyout", pair[1], "-out", pair[0], "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost,IP:127.0.0.1"], check=True, capture_output=True)
    return pair


def servers(pair, files, only):
    flags = ["--tls-cert", pair[0], "--tls-key", pair[1]]
    if files:
        return there(file_servers(files, *flags, tls=pair), only)
    return there({**gyre_program("hello_server", *flags),
                  "hyper, rustls": [str(TOKIO / "hyper_https"), str(pair[0]), str(pair[1])],
                  "nginx": nginx_files(tls=pair)}, only)


def requests(port, path, connections, seconds):
    """Requests a second."""
    done = load(port, f"https:{path}", connections, 1, seconds)
    return done["requests"] / done["seconds"]


def hellos(port, connections, seconds, server):
    """Requests a second, and the processor time that the server has used for one. The client prepares its requests
    first, and says when that is over."""
    with subprocess.Popen(["taskset", "-c", str(LOAD_CORE), str(BIN / "tls_requests"), str(port), str(connections),
                           str(seconds)], stdout=subprocess.PIPE, text=True) as client:
        if client.stdout.readline() != "ready\n":
            raise SystemExit("bench: tls_requests has failed")
        before = sum(server.cpu())
        rate = float(client.stdout.readline())
        return rate, rate * seconds / (sum(server.cpu()) - before)


def handshakes(port, resumed, seconds):
    """Handshakes a second: tls_handshakes does them on 16 connections at a time."""
    return float(output_of([BIN / "tls_handshakes", port, "resumed" if resumed else "full", 16, seconds], seconds))


def measure(title, unit, pair, files, arguments, scratch, act):
    """`act(server, seconds)` returns how many things a second were done, and perhaps also per second of the server's
    processor. Prints both."""
    rows = {name: [] for name in servers(pair, files, arguments.only)}
    for name, command in in_turn(servers(pair, files, arguments.only).items(), arguments.rounds):
        with Server(name, command, scratch) as server:
            act(server, 0.3)
            before = sum(server.cpu())
            rate = act(server, arguments.seconds)
            used = sum(server.cpu()) - before
            rows[name].append(rate if isinstance(rate, tuple) else (rate, rate * arguments.seconds / used))
    print(f"\n{title}\n{'':16}{unit + '/s':>16}{'to nginx':>24}{'per CPU second':>16}{'to nginx':>24}")
    base = rows.get("nginx") or next(iter(rows.values()))
    for name, runs in rows.items():
        text = f"{name:16}"
        for i in (0, 1):
            middle = sorted(run[i] for run in runs)[len(runs) // 2]
            text += f"{middle:>16,.0f}{str(Ratio([run[i] for run in runs], [run[i] for run in base])):>24}"
        print(text, flush=True)


def memory(pair, arguments, scratch, connections=1000):
    """Bytes of an idle connection, plain and encrypted."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    print(f"\nmemory of {connections} idle connections, bytes of each")
    plain = there(gyre_program("hello_server"), arguments.only)
    for name, command in [*plain.items(), *servers(pair, None, arguments.only).items()]:
        encrypted = "--tls-cert" in command
        if command[0] == "nginx":
            continue
        with Server(name, command, scratch) as server:
            def connect():
                peer = socket.create_connection(("127.0.0.1", server.port))
                peer = context.wrap_socket(peer) if encrypted else peer
                peer.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                peer.recv(1000)
                return peer

            first = [connect() for _ in range(200)]
            before = server.resident()
            kept = [connect() for _ in range(connections)]
            print(f"{name + (' over TLS' if encrypted else ''):24}{(server.resident() - before) / connections:>10,.0f}")
            for each in first + kept:
                each.close()


def tls(arguments):
    with tempfile.TemporaryDirectory() as scratch:
        pair = make_certificate(scratch)
        files = Path(scratch, "files")
        files.mkdir()
        make_files(files)
        arguments.seconds = max(2, arguments.seconds)
        measure("full handshakes (TLS 1.3, ECDSA P-256)", "handshakes", pair, None, arguments, scratch,
                lambda server, seconds: handshakes(server.port, False, seconds))
        measure("resumed handshakes (TLS 1.3)", "handshakes", pair, None, arguments, scratch,
                lambda server, seconds: handshakes(server.port, True, seconds))
        measure("HTTPS, hello, 64 connections", "requests", pair, None, arguments, scratch,
                lambda server, seconds: hellos(server.port, 64, seconds, server))
        for title, path, connections in (("64 KiB", "/64K", 64), ("100 MiB", "/100M", 4)):
            measure(f"HTTPS, {title}, {connections} connections", "requests", pair, files, arguments, scratch,
                    lambda server, seconds, p=path, c=connections: requests(server.port, p, c, max(1, seconds)))
        memory(pair, arguments, scratch)
