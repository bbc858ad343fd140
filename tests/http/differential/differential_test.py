#!/usr/bin/env python3
"""Compares how gyre, llhttp and h11 parse the same streams of requests.

Usage: differential_test.py PROGRAM [MUTATIONS [SEED]]

PROGRAM is gyre_http_verdict. Fails on a difference that no rule explains, and when the rules differ from those of
docs/http-parser-differences.md. A parser that is not installed is left out; without both, the test is skipped.
Debian: apt-get install node-llhttp; pip install h11.
"""

import collections
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import corpus  # noqa: E402
import differences  # noqa: E402
import rules  # noqa: E402

DOCUMENT = HERE.parents[2] / "docs" / "http-parser-differences.md"
LLHTTP = Path("/usr/share/llhttp")
SKIPPED = 77


def run(program, streams):
    """Returns the verdicts of a program on all streams."""
    input_bytes = b"".join(struct.pack("<I", len(stream)) + stream for stream in streams)
    output = subprocess.run([program], input=input_bytes, capture_output=True, check=True, timeout=120).stdout
    verdicts = [json.loads(line) for line in output.splitlines()]
    assert len(verdicts) == len(streams), f"{program}: {len(verdicts)} verdicts on {len(streams)} streams"
    for verdict in verdicts:
        for request in verdict["requests"]:
            for name in ("method", "target", "body"):
                request[name] = bytes.fromhex(request[name])
            for name in ("fields", "trailers"):
                request[name] = [[bytes.fromhex(text) for text in pair] for pair in request[name]]
    return verdicts


def llhttp_verdicts(streams):
    """Returns None when the sources are not installed."""
    sources = sorted(LLHTTP.glob("*.c"))
    if not sources:
        return None
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "llhttp_verdict"
        subprocess.run([os.environ.get("CC", "cc"), "-O1", "-w", "-I/usr/share/include/llhttp",
                        HERE / "llhttp_verdict.c",
                        *sources, "-o", program], check=True)
        return run(program, streams)


def h11_verdicts(streams):
    """Returns None when h11 is not installed."""
    try:
        import h11_verdict
    except ImportError:
        return None
    return [h11_verdict.judge(stream) for stream in streams]


def problems_of_document(used):
    """Returns the differences between the table and the rules, and the rules that explain nothing."""
    listed = re.findall(r"^\| `([^`]+)` \|", DOCUMENT.read_text(), re.M)
    named = {rule.name for rule in rules.RULES}
    problems = [f"{name}: no row in {DOCUMENT.name}" for name in named - set(listed)]
    problems += [f"{name}: a row in {DOCUMENT.name}, and no rule" for name in set(listed) - named]
    if used is not None:
        problems += [f"{name}: explains nothing" for name in named - used]
    return sorted(problems)


def main():
    mutations, seed = (int(text) for text in (sys.argv[2:] + ["5000", "1"][len(sys.argv) - 2:]))
    streams = corpus.corpus() + corpus.mutations(mutations, seed)
    peers = {"llhttp": llhttp_verdicts(streams), "h11": h11_verdicts(streams)}
    present = {name: verdicts for name, verdicts in peers.items() if verdicts is not None}
    for name in peers.keys() - present.keys():
        print(f"{name} is not installed")
    if not present:
        return SKIPPED
    found = [difference for name, verdicts in present.items()
             for stream, gyre, other in zip(streams, run(sys.argv[1], streams), verdicts)
             for difference in differences.compare(name, gyre, other, stream)]
    explained = collections.Counter(rules.explain(difference) for difference in found)
    unexplained = [difference for difference in found if rules.explain(difference) is None]
    problems = problems_of_document(set(explained) if len(present) == len(peers) else None)
    print(*(f"{count:6} {name}" for name, count in explained.most_common() if name), sep="\n")
    print(*unexplained[:20], *problems, sep="\n")
    print(f"{len(streams)} streams, {', '.join(present)}: {len(found)} differences, {len(unexplained)} unexplained")
    return 1 if unexplained or problems else 0


if __name__ == "__main__":
    sys.exit(main())
