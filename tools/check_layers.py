#!/usr/bin/env python3
"""Fails when an include goes upwards: reads the gyre_layer() lines of CMakeLists.txt and every #include."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OS_HEADER = re.compile(r"^(sys|linux|netinet|arpa|net|asm)/|"
                       r"^(unistd|fcntl|signal|pthread|poll|sched|netdb|dirent|dlfcn)\.h$")
THIRD_PARTY = re.compile(r"^(fmt|CLI|gtest|gmock|benchmark|openssl|nghttp2|zlib|brotli|zstd|asio|boost|uv)\b")
INTEROP = re.compile(r"^(asio|boost)\b")  # the libraries that the headers of interop/ serve
BACKEND_WORD = re.compile(r"\b(io_uring|epoll)_\w+\s*\(|\bIORING_\w+|\bEPOLL\w+")


def layers(text):
    found = {}
    for name, uses in re.findall(r"^gyre_layer\((\w+)(?:\s+USES\s+([\w ]+))?\)", text, re.M):
        found[name] = uses.split()
    return found


def reachable(found, name, path=()):
    if name in path:
        raise SystemExit(f"check_layers: a cycle: {' -> '.join(path + (name,))}")
    below = {name}
    for used in found[name]:
        if used not in found:
            raise SystemExit(f"check_layers: layer {name} uses {used}, which is not declared before it")
        below |= reachable(found, used, path + (name,))
    return below


def check_file(path, layer, allowed, text):
    problems = []
    public = path.startswith("include/")
    for number, line in enumerate(text.splitlines(), 1):
        where = f"{path}:{number}"
        include = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if include:
            quote, target = include.groups()
            inside = (re.match(r"gyre/(\w+)/", target) or
                      re.match(r"gyre/(io|loop|coro|tasks|runtime|stream|net|fs)\.hpp", target))
            if inside and inside.group(1) not in allowed:
                problems.append(f"{where}: layer {layer} includes {target}, which is above it")
            if quote == '"' and public:
                problems.append(f"{where}: public headers include <gyre/…>, not \"{target}\"")
            if quote == '"' and not public and "/" in target:
                problems.append(f"{where}: a private header of another folder: {target}")
            if public and THIRD_PARTY.match(target) and not (layer == "interop" and INTEROP.match(target)):
                problems.append(f"{where}: third-party header in a public header: {target}")
            may_use_os = path.startswith(("include/gyre/io/uring/", "include/gyre/testing/"))
            if public and OS_HEADER.match(target) and not may_use_os:
                problems.append(f"{where}: system header outside io/uring: {target}")
        elif layer != "io":
            code = re.sub(r'//.*|"[^"]*"', "", line)
            if BACKEND_WORD.search(code):
                problems.append(f"{where}: only io/ may name a backend's interface: {line.strip()}")
    return problems


def check(root):
    found = layers((root / "CMakeLists.txt").read_text())
    problems = []
    for tree in ("include/gyre", "src"):
        for file in sorted((root / tree).rglob("*")):
            relative = file.relative_to(root).as_posix()
            parts = file.relative_to(root / tree).parts
            if file.suffix not in (".hpp", ".cpp") or len(parts) < 2:
                continue
            if parts[0] not in found:
                problems.append(f"{relative}: folder {parts[0]} is not a layer of CMakeLists.txt")
                continue
            problems += check_file(relative, parts[0], reachable(found, parts[0]), file.read_text())
    return problems


def self_test():
    found = layers("gyre_layer(a)\ngyre_layer(b USES a)\n")
    assert reachable(found, "b") == {"a", "b"}
    bad = check_file("include/gyre/a/x.hpp", "a", {"a"},
                     "#include <gyre/net/y.hpp>\n#include <fmt/format.h>\n#include <sys/socket.h>\n"
                     "int x = io_uring_enter(1);\n")
    assert len(bad) == 4, bad
    foreign = "#include <asio/post.hpp>\n#include <fmt/format.h>\n"
    assert len(check_file("include/gyre/a/x.hpp", "a", {"a"}, foreign)) == 2
    assert len(check_file("include/gyre/interop/x.hpp", "interop", {"interop"}, foreign)) == 1
    assert not check_file("src/b/x.cpp", "b", {"a", "b"}, '#include <gyre/a/y.hpp>\n// io_uring_enter(2)\n')


if __name__ == "__main__":
    self_test()
    problems = check(ROOT)
    print("\n".join(problems) or "layers: every include goes downwards")
    sys.exit(bool(problems))
