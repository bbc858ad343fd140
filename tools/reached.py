#!/usr/bin/env python3
"""Prints which test suites a change reaches: those of the layers that it touches, and of the layers that stand on them;
the suite of a test; for a header of tests/, the suites that include it.

The change is everything since the commit that .ci/passed names, the last one that passed every check, including what is
not committed. It reaches every suite when GYRE_CI=all, and then those of other machines, too. It reaches all but those
of other machines when it touches what all of them use (the build of the library and the tests, .ci/, tests/support/,
include/gyre/testing/) or a file that no rule below names, when that commit is not an ancestor of this one, and when
that commit passed with other compilers or on another kernel.

    tools/reached.py             two lines for .ci/run: the suites, and why
    tools/reached.py --passed    the text of .ci/passed for this commit"""

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

from check_layers import layers, reachable

ROOT = Path(__file__).resolve().parent.parent
PASSED = ".ci/passed"

# The suites and the layers that they test, directly. fuzz is tests/fuzz, kernel is tests/kernel, and alone compiles
# headers and sources of programs one by one.
TESTED = {
    "coro": "coro runtime", "io": "io", "contract": "io", "loop": "tasks", "tasks": "tasks", "runtime": "runtime",
    "sync": "sync tasks", "stream": "stream runtime", "net": "net runtime", "fs": "fs runtime", "process": "process",
    "http": "http tls runtime", "tls": "tls http runtime", "client": "client runtime", "interop": "interop runtime",
    "interop_boost": "interop runtime", "faults": "client process", "resp": "net runtime", "load": "http",
    "encryption": "tls http", "proxy": "client http", "growth": "client http", "compiler": "runtime http process",
    "programs": "client process runtime interop",
    "fuzz": "client", "kernel": "tls http", "alone": "client process runtime interop testing",
}
# Other machines: their checks build everything anew. They run with GYRE_CI=all, and when they themselves change.
MACHINES = {"aarch64", "kernels", "static"}
# What the documentation site shows, and what makes it, by the beginning of the path.
SITE = ("docs/", "mkdocs.yml", "tools/site/", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md",
        "CODE_OF_CONDUCT.md", "THIRD_PARTY.md", "bench/README.md", "bench/articles/README.md", "include/gyre/",
        "programs/demo.py")
EVERYTHING = set(TESTED) | {"site"}
# Folders and files beside the layers, by the beginning of the path, and the suites that they reach; the first that fits
# counts. What is not here reaches everything.
BESIDE = [
    (PASSED, ""), ("docs/", ""), ("bench/", ""), ("tools/reached.py", None),
    ("tools/check_layers.py", None), ("tools/", ""), ("LICENSE", ""),
    (".gitignore", ""), ("mkdocs.yml", ""),
    ("packaging/manual/", "programs"), ("packaging/systemd/", "programs"), ("cmake/gyre_manual.cmake", "programs"),
    ("packaging/wheel/", "static"), ("packaging/", ""),
    ("THIRD_PARTY.md", ""), ("tests/requirements", ""), ("tests/node/", ""), (".github/", ""),
    ("CITATION.cff", ""), ("CODE_OF_CONDUCT.md", ""),
    ("README.md", ""), ("CHANGELOG.md", ""), ("CONTRIBUTING.md", ""), ("SECURITY.md", ""),
    ("tests/compiler.cmake", "compiler"), ("tests/programs.cmake", "programs"), ("tests/compiler/", "compiler"),
    ("tests/compile_fail/", "compiler"), ("tests/sanitized/", "compiler"), ("tests/programs/", "programs"),
    ("tests/kernel/", "kernel kernels"), ("tests/static/", "static"), ("cmake/gyre_static.cmake", "static"),
    ("tests/aarch64/", "aarch64"), ("cmake/aarch64.cmake", "aarch64"),
    ("tests/modules/", "alone"), ("src/modules/", "alone"), ("cmake/gyre_module.cmake", "alone"),
    ("tests/tls/peer.cpp", "programs"), ("tests/packages/", ""),
    ("tests/interop/boost/", "interop_boost"), ("tests/resp/", "resp programs"),
    ("programs/CMakeLists.txt", "resp load encryption proxy programs alone"),
    ("programs/resp_server/", "resp programs alone"), ("programs/gyre/load/", "load programs alone"),
    ("programs/encryption/", "encryption programs alone"), ("programs/gyre/proxy/", "proxy growth programs alone"),
    ("programs/", "resp programs alone"),
    ("examples/", "programs"),
]


def suites_of(path, graph, above):
    """The suites that a changed file reaches, or None for all of them."""
    for prefix, suites in BESIDE:
        if path.startswith(prefix):
            return None if suites is None else set(suites.split())
    parts = path.split("/")
    if parts[0] == "tests" and len(parts) > 2 and parts[1] in TESTED:
        found = {parts[1]} | suites_with(path)
        return found | {"kernel"} if "tls" in found else found
    if parts[0] == "src" or path.startswith("include/gyre/"):
        layer = parts[1] if parts[0] == "src" else parts[2].removesuffix(".hpp")
        if layer in graph and layer != "testing":  # every test includes headers of testing/
            return above[layer]
    return None


def suites_with(header):
    """The suites that include a header of tests/, directly or through others."""
    including, found = {header}, set()
    texts = {each.relative_to(ROOT).as_posix(): each.read_text() for each in (ROOT / "tests").rglob("*.[ch]pp")}
    while including:
        target = including.pop()
        for path, text in texts.items():
            if f'#include "{target}"' in text and path not in found:
                found.add(path)
                including.add(path)
    return {"interop_boost" if path.startswith("tests/interop/boost/") else path.split("/")[1] for path in found}


def suites_above(graph):
    """For each layer, the suites that run its code."""
    stands_on = {suite: set().union(*(reachable(graph, each) for each in tested.split()))
                 for suite, tested in TESTED.items()}
    # src/http/semantics and src/http/http1 are parts of src/http, as far as tests can tell.
    return {layer: {suite for suite, below in stands_on.items() if layer in below} for layer in graph}


def fingerprint():
    """What else a result depends on: the compilers and the kernel."""
    def first_line(*command):
        try:
            return subprocess.run(command, capture_output=True, text=True).stdout.splitlines()[0]
        except (FileNotFoundError, IndexError):
            return f"no {command[0]}"
    kernel = ".".join(platform.release().split(".")[:2])
    return f"{first_line('clang++-19', '--version')}, {first_line('g++', '--version')}, Linux {kernel}"


def git(*arguments):
    return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True)


def reached():
    """The suites, and why."""
    if os.environ.get("GYRE_CI") == "all":
        return EVERYTHING | MACHINES, "GYRE_CI=all"
    try:
        passed, machine = (ROOT / PASSED).read_text().splitlines()
    except (FileNotFoundError, ValueError):
        return EVERYTHING, f"{PASSED} names no commit"
    if machine != fingerprint():
        return EVERYTHING, "the last run that passed had other compilers or another kernel"
    if git("merge-base", "--is-ancestor", passed, "HEAD").returncode != 0:
        return EVERYTHING, f"{passed[:10]}, which {PASSED} names, is not below this commit"
    changed = git("diff", "--name-only", "--no-renames", passed).stdout.splitlines()
    changed += git("ls-files", "--others", "--exclude-standard").stdout.splitlines()
    return of_changes(changed, passed)


def of_changes(changed, passed):
    graph = layers((ROOT / "CMakeLists.txt").read_text())
    above = suites_above(graph)
    suites = set()
    for path in changed:
        found = suites_of(path, graph, above)
        if found is None:
            return EVERYTHING, f"{path} has changed since {passed[:10]}"
        suites |= found | ({"site"} if path.startswith(SITE) else set())
    return suites, f"the change since {passed[:10]}"


def self_test():
    """A change reaches what stands on it, and nothing beside."""
    def suites(*paths):
        return of_changes(paths, "0123456789ab")[0]
    assert suites("docs/guide/http.md", "bench/run.py") == {"site"}
    assert suites("tests/net/gate_test.cpp") == {"net"}
    assert suites("tests/tls/https_files_test.cpp") == {"tls", "kernel"}
    assert suites("src/tls/certificate.cpp") >= {"http", "tls", "client"}
    assert suites("tests/net/connected_pair.hpp") > {"net", "http", "kernel"}
    assert suites("src/http/http1/framing.cpp") >= {"http", "client", "faults", "fuzz", "programs"}
    assert not suites("src/http/http1/framing.cpp") & {"net", "sync", "contract", "process"}
    assert suites("include/gyre/client/url.hpp") == {
        "client", "faults", "proxy", "growth", "fuzz", "programs", "alone", "site"}
    assert suites("src/process/child.cpp", "tests/fs/copy_test.cpp") == {
        "process", "fs", "faults", "compiler", "programs", "alone"}
    assert suites("src/io/epoll_backend.cpp") >= set(TESTED) - {"coro"}
    for path in ("CMakeLists.txt", "cmake/gyre_layer.cmake", ".ci/run", "gyre", "include/gyre/gyre.hpp",
                 "include/gyre/testing/run_test.hpp", "tests/support/seeds.hpp", "tests/CMakeLists.txt", "new/file"):
        assert suites("docs/a.md", path) == EVERYTHING, path
    graph = layers((ROOT / "CMakeLists.txt").read_text())
    for suite, tested in TESTED.items():
        used = set().union(*(re.findall(r"#include <gyre/([a-z_]+)/", each.read_text())
                             for each in (ROOT / "tests" / suite).glob("*.[ch]pp")))
        missing = used - {"testing"} - set().union(*(reachable(graph, each) for each in tested.split()))
        assert not missing, f"tools/reached.py: the suite {suite} includes headers of {missing}"
    known = re.findall(r"^suites\+?=\"(.*)\"$", (ROOT / "gyre").read_text(), re.M)
    assert set(" ".join(known).split()) == set(TESTED) - {"fuzz", "kernel"}, "tools/reached.py: other suites than gyre"
    folders = {each.name for each in (ROOT / "tests").iterdir() if list(each.glob("*_test.cpp"))}
    assert folders <= set(TESTED), f"tools/reached.py: no suite for {folders - set(TESTED)}"
    assert suites("tests/static/run.sh") == {"static"}


if __name__ == "__main__":
    self_test()
    if sys.argv[1:] == ["--passed"]:
        print(git("rev-parse", "HEAD").stdout.strip())
        print(fingerprint())
    else:
        found, why = reached()
        print(" ".join(suite for suite in [*TESTED, "site", *sorted(MACHINES)] if suite in found))
        print(why)
