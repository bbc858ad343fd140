#!/usr/bin/env python3
"""Writes a wheel with the static `gyre`: build.py PROGRAM MANUAL FOLDER

PROGRAM is build/static/bin/gyre, MANUAL is the folder of pages and completions that the build makes beside it
(build/static/manual). The wheel installs the program as it is: it starts no Python. The same files and
SOURCE_DATE_EPOCH give the same bytes.
"""

import base64
import hashlib
import os
import re
import struct
import sys
import time
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MACHINES = {62: "x86_64", 183: "aarch64"}  # e_machine of ELF
# The Debian packages of what is linked into the program, whose licences go along.
LINKED = ("libc6", "libstdc++6", "libssl3", "zlib1g", "libbrotli1", "libzstd1", "libpsl5", "libidn2-0",
          "libunistring2", "libfmt9", "libcli11-dev")
METADATA = """Metadata-Version: 2.1
Name: gyre-cli
Version: {version}
Summary: HTTP server, reverse proxy, client and load generator in one static program
License: MIT
Classifier: License :: OSI Approved :: MIT License
Classifier: Operating System :: POSIX :: Linux
Classifier: Environment :: Console
Requires-Python: >=3.8
Description-Content-Type: text/markdown

"""


def version():
    return re.search(r"project\(gyre VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def platform(program):
    """A static program needs neither glibc nor musl."""
    head = program[:20]
    if head[:4] != b"\x7fELF" or b"/ld-linux" in program[:4096]:
        raise SystemExit("the program is not a static executable")
    machine = MACHINES[struct.unpack("<H", head[18:20])[0]]
    return f"manylinux_2_17_{machine}.musllinux_1_1_{machine}"


def files(program, manual, tag):
    """{name in the wheel: (bytes, mode)}"""
    info, data = (f"gyre_cli-{version()}.{end}" for end in ("dist-info", "data"))
    yield f"{data}/scripts/gyre", program, 0o755
    share = {"man1": "man/man1", "bash": "bash-completion/completions", "zsh": "zsh/site-functions",
             "fish": "fish/vendor_completions.d"}
    for folder, place in share.items():
        for each in (manual / folder).iterdir():
            yield f"{data}/data/share/{place}/{each.name}", each.read_bytes(), 0o644
    for each in (HERE / "gyre_cli").glob("*.py"):
        yield f"gyre_cli/{each.name}", each.read_bytes(), 0o644
    yield f"{info}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes(), 0o644
    for package in LINKED:
        text = Path(f"/usr/share/doc/{package}/copyright")
        if text.exists():
            yield f"{info}/licenses/{package}", text.read_bytes(), 0o644
    description = (HERE / "description.md").read_text()
    yield f"{info}/METADATA", (METADATA.format(version=version()) + description).encode(), 0o644
    tags = "".join(f"Tag: py3-none-{each}\n" for each in tag.split("."))
    yield f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: gyre\nRoot-Is-Purelib: false\n{tags}".encode(), 0o644


def write(path, content):
    date = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())), 315532800))[:6]  # zip begins in 1980
    record = f"gyre_cli-{version()}.dist-info/RECORD"
    lines = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, text, mode in [*sorted(content), (record, None, 0o644)]:
            if text is None:
                text = "".join([*lines, f"{record},,\n"]).encode()
            digest = base64.urlsafe_b64encode(hashlib.sha256(text).digest()).rstrip(b"=").decode()
            lines.append(f"{name},sha256={digest},{len(text)}\n")
            entry = zipfile.ZipInfo(name, date)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, text)


def main():
    program, manual, folder = Path(sys.argv[1]).read_bytes(), Path(sys.argv[2]), Path(sys.argv[3])
    tag = platform(program)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"gyre_cli-{version()}-py3-none-{tag}.whl"
    write(path, files(program, manual, tag))
    print(path)


if __name__ == "__main__":
    main()
