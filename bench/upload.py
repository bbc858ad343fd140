"""Uploads: how fast a server writes a request body to a file, and the processor time that it takes."""

import json
import statistics
import tempfile
from pathlib import Path

from measure import output_of
from rounds import Ratio, in_turn
from servers import BIN, BUILT, Server, build_peers, gyre_program, nginx_files, there

SIZE = 1 << 30
PATTERN_SIZE = 65_521  # bench/load/upload.cpp


def candidates(folder, only):
    """name -> (method, path, command)"""
    go = str(BUILT / "go_upload")
    found = {"nginx": ("PUT", "/received", nginx_files(folder)), "Go, PUT": ("PUT", "/received", [go, str(folder)]),
             "Go, form": ("POST", "/_upload", [go, str(folder)])}
    ours = gyre_program("gyre", "serve", folder, "--upload", folder, "--access-log", "off")
    for name, command in ours.items():
        found[f"{name}, form"] = ("POST", "/_upload", command)
        found[f"{name}, PUT"] = ("PUT", "/_upload/received", command)
    built = there({name: command for name, (_, _, command) in found.items()}, only)
    return {name: found[name] for name in built}


def pattern():
    state, made = 1, bytearray()
    for _ in range(PATTERN_SIZE):
        state = (state * 1_664_525 + 1_013_904_223) & 0xFFFF_FFFF
        made.append(state >> 24)
    return bytes(made)


def check(file, size, block):
    """`block` is the pattern, repeated."""
    with open(file, "rb") as received:
        while piece := received.read(len(block)):
            size -= len(piece)
            if piece != block[:len(piece)]:
                raise SystemExit(f"bench: {file} differs from what was sent")
    if size != 0:
        raise SystemExit(f"bench: {file} has a wrong size")


def send(port, method, path, size):
    return json.loads(output_of([BIN / "upload", port, method, path, size]))


def once(name, method, path, command, scratch, folder, block):
    with Server(name, command, scratch) as server:
        received = Path(folder, "received")
        send(server.port, method, path, 1 << 24)
        received.unlink()
        before = server.processor_time()
        sent = send(server.port, method, path, SIZE)
        used = server.processor_time() - before
    check(received, SIZE, block)
    received.unlink()
    return {"rate": SIZE / sent["seconds"] / (1 << 20), "server": used / 1e9, "client": sent["processor"],
            "busy": sent["processor"] / sent["seconds"]}


def compare(title, folder, arguments, rounds, block):
    everybody = candidates(folder, arguments.only)
    rows = {name: [] for name in everybody}
    with tempfile.TemporaryDirectory() as scratch:
        for name, (method, path, command) in in_turn(everybody.items(), rounds):
            rows[name].append(once(name, method, path, command, scratch, folder, block))
    base = next(iter(rows))
    figures = {key: {name: [run[key] for run in runs] for name, runs in rows.items()} for key in rows[base][0]}
    print(f"\nupload of 1 GiB to {title}\n{'':22}{'ratio':>22}{'MiB/s':>9}{'processor s':>13}{'ratio':>22}"
          f"{'client busy':>13}")
    for name in sorted(rows, key=lambda row: -Ratio(figures["rate"][row], figures["rate"][base]).value):
        middle = {key: statistics.median(values[name]) for key, values in figures.items()}
        print(f"{name:22}{str(Ratio(figures['rate'][name], figures['rate'][base])):>22}{middle['rate']:>9,.0f}"
              f"{middle['server']:>13.3f}{str(Ratio(figures['server'][name], figures['server'][base])):>22}"
              f"{middle['busy']:>13.2f}", flush=True)


def upload(arguments):
    build_peers()
    block = pattern() * 16
    rounds = min(arguments.rounds, 9)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        compare("a file in memory (tmpfs)", folder, arguments, rounds, block)
    with tempfile.TemporaryDirectory(dir=BIN.parent) as folder:
        compare("the disk", folder, arguments, rounds, block)
