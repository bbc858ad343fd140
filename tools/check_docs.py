#!/usr/bin/env python3
"""Compiles and runs the C++ of README.md, docs/*.md and docs/guide/*.md, and looks for what their links name.

A fence of one line `// file: examples/x.cpp` stands for that example, which must exist (the build compiles it). Any other
fence is compiled with gyre.hpp in front; one with a main() is linked with the release build and must exit with 0.
"""

import asyncio
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PREFIX = "#include <gyre/gyre.hpp>\n#include <chrono>\n#include <string>\nusing namespace std::chrono_literals;\n"
LIBRARY = ROOT / "build/release/libgyre.a"


def fences(text):
    """(line, language, code) of each fenced block."""
    for found in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S):
        yield text[:found.start()].count("\n") + 1, found.group(1), found.group(2)


def lacks_asio(code):
    """Whether a fence needs an Asio that this machine has not."""
    header = re.search(r"^#include <gyre/interop/(boost_)?asio\.hpp>", code, re.M)
    if not header:
        return False
    name = "boost/asio.hpp" if header.group(1) else "asio.hpp"
    found = subprocess.run(["clang++-19", "-E", "-x", "c++", "-"], input=f"#include <{name}>\n", capture_output=True, text=True)
    return found.returncode != 0


def check_fence(where, code):
    if lacks_asio(code):
        print(f"{where}: not compiled: there is no Asio")
        return []
    quoted = re.fullmatch(r"// file: (\S+)\n", code)
    if quoted:
        return [] if (ROOT / quoted.group(1)).is_file() else [f"{where}: there is no {quoted.group(1)}"]
    runs = re.search(r"^int main\(", code, re.M) is not None
    with tempfile.TemporaryDirectory() as scratch:
        source, program = Path(scratch, "fence.cpp"), Path(scratch, "fence")
        source.write_text(PREFIX + code)
        command = ["clang++-19", "-std=c++23", "-O1", f"-I{ROOT / 'include'}", str(source)]
        command += ["-o", str(program), str(LIBRARY), "-pthread"] if runs else ["-fsyntax-only"]
        built = subprocess.run(command, capture_output=True, text=True)
        if built.returncode != 0:
            return [f"{where}: does not compile:\n{built.stderr}"]
        if runs:
            done = subprocess.run([str(program)], capture_output=True, text=True, timeout=10)
            if done.returncode != 0:
                return [f"{where}: exit code {done.returncode}: {done.stderr}"]
    return []


def missing_asyncio_names(text):
    """Public names of asyncio, of this Python and of 3.12 and 3.13, that the table does not mention."""
    classes = ["AbstractEventLoop", "Task", "Future", "StreamReader", "StreamWriter", "Queue", "Lock", "Event", "Condition",
               "Semaphore", "Barrier", "Timeout", "TaskGroup", "Runner"]
    names = {*asyncio.__all__, "QueueShutDown", "EventLoop", "eager_task_factory", "create_eager_task_factory"}
    for each in classes:
        names |= {name for name, value in vars(getattr(asyncio, each)).items() if callable(value)}
    return sorted(name for name in names if name[0] != "_" and not re.search(rf"\b{name}\b", text))


def main():
    names = missing_asyncio_names((ROOT / "docs/from-asyncio.md").read_text())
    problems = [f"docs/from-asyncio.md: says nothing of {name}" for name in names]
    pieces = []
    for file in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/guide").glob("*.md"))]:
        text = file.read_text()
        for line, language, code in fences(text):
            if language == "cpp":
                pieces.append((f"{file.relative_to(ROOT)}:{line}", code))
        prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
        for target in re.findall(r"\]\(([^)#:]+)\)", prose):
            if not (file.parent / target).exists():
                problems.append(f"{file.relative_to(ROOT)}: link to {target}, which does not exist")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(lambda piece: check_fence(*piece), pieces):
            problems += found
    print("\n".join(problems) or f"documents: {len(pieces)} pieces of C++ compile, those with a main() run")
    sys.exit(bool(problems))


if __name__ == "__main__":
    assert check_fence("self-test", "int wrong = nonsense;\n"), "a fence that does not compile must be found"
    main()
