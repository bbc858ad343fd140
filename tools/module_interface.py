#!/usr/bin/env python3
"""Writes src/modules/gyre.cppm, the interface of the module gyre: `export using` for each public name of the headers
that gyre.hpp and http.hpp include. With --check it fails when the file lacks a name or has one too many."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools/site"))

import headers  # noqa: E402

FILE = ROOT / "src/modules/gyre.cppm"
FRONT_PAGES = ["gyre.hpp", "http.hpp"]
NAMESPACES = ["gyre", "gyre::fs", "gyre::http", "gyre::io"]
# Differs between builds, and therefore has no linkage.
NOT_EXPORTED = {"gyre::checks_everything"}
HEAD = """// src/modules/gyre.cppm: the module gyre, which exports the names of gyre.hpp and http.hpp. Written by
// tools/module_interface.py; see docs/guide/installing.md for its use.
module;

%s
export module gyre;
"""


def included(name, seen):
    if name not in seen:
        seen.add(name)
        for target in re.findall(r"#\s*include\s*<gyre/([^>]+)>", (ROOT / "include/gyre" / name).read_text()):
            included(target, seen)
    return seen


def packed(names):
    """`using` declarations of at most 120 columns."""
    lines, line = [], ""
    for name in names:
        if line and len(line) + len(name) + 3 > 120:
            lines.append(line + ";")
            line = ""
        line = f"{line}, {name}" if line else f"using {name}"
    return [*lines, line + ";"]


def interface():
    reachable = set()
    for page in FRONT_PAGES:
        included(page, reachable)
    names = {}
    for each in headers.Reader().read():
        if each.header in reachable and each.kind != "macro" and each.qualified not in NOT_EXPORTED:
            names.setdefault(each.scope, set()).add(each.qualified)
    text = HEAD % "".join(f"#include <gyre/{page}>\n" for page in FRONT_PAGES)
    for scope in NAMESPACES:
        body = "\n".join(packed(sorted(names[scope])))
        text += f"\nexport namespace {scope} {{\n{body}\n}}  // namespace {scope}\n"
    return text


def main():
    text = interface()
    if sys.argv[1:] == ["--check"]:
        if FILE.read_text() != text:
            sys.exit(f"{FILE.relative_to(ROOT)} is out of date: run tools/module_interface.py")
        return
    FILE.write_text(text)


if __name__ == "__main__":
    main()
