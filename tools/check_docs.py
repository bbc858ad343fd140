#!/usr/bin/env python3
"""Compiles and runs the C++ of README.md and of the pages below docs/, or of the given files, and checks the targets
of their links. The table of features must name what the front pages of the layers list.

A listing is a fence that begins with ```cpp. It is compiled after an include of gyre.hpp. A listing with a main() is
linked with the release build, and must exit with 0.

Readers do not see HTML comments. Five kinds of them, each beside a listing, determine how it is checked:

    <!-- check_docs: file: examples/x.cpp -->
        Before a listing, which must be equal to that file. The build compiles the file, and its tests run it.
    <!-- check_docs: before      lines to compile before the listing, up to a line -->
    <!-- check_docs: after       lines to compile after it, up to a line -->, such as a main() that checks a result
    <!-- check_docs: prints: OUTPUT -->
        After a program, which must print the output, in which \\n is a line end.
    <!-- check_docs: server: COMMAND => OUTPUT -->
        After a server. It is started on free ports instead of its own. The command must print the output, in which
        \\n is a line end. After a SIGTERM, the server must exit with 0.
"""

import asyncio
import functools
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PREFIX = "#include <gyre/gyre.hpp>\n#include <chrono>\n#include <string>\nusing namespace std::chrono_literals;\n"
LIBRARY = ROOT / "build/release/libgyre.a"
FENCE = re.compile(r"(?:^<!-- check_docs: file: (?P<file>\S+) -->\n|^<!-- check_docs: before\n(?P<before>.*?)^-->\n)?"
                   r"^```(?P<language>[\w+]*)\n(?P<code>.*?)^```\n?"
                   r"(?:^<!-- check_docs: after\n(?P<after>.*?)^-->\n?|"
                   r"^<!-- check_docs: server: (?P<server>.*?) -->\n?|"
                   r"^<!-- check_docs: prints: (?P<prints>.*?) -->\n?)?", re.M | re.S)


COMPILER = ["clang++-19", "-std=c++23", "-O1", "-pthread", f"-I{ROOT / 'include'}"]
SCRATCH = tempfile.TemporaryDirectory()


@functools.cache
def precompiled():
    """The prefix of every listing, which takes longer to compile than the listing."""
    header, result = Path(SCRATCH.name, "prefix.hpp"), Path(SCRATCH.name, "prefix.pch")
    header.write_text(PREFIX)
    subprocess.run([*COMPILER, "-x", "c++-header", str(header), "-o", str(result)], check=True)
    return result


def linked_with(library="gyre"):
    """The libraries to link after this one, as its file for pkg-config in the release build lists them."""
    text = LIBRARY.with_name(f"{library}.pc").read_text()
    return re.search(rf"^Libs:.* -l{library}\b(?!-)(.*)$", text, re.M)[1].split()


def encrypted_with(code):
    """The libraries to link before gyre for a listing that uses TLS, or the client, which stands on it."""
    names = ["client", "tls"] if "gyre/client.hpp" in code else ["tls"] if "gyre/tls.hpp" in code else []
    others = linked_with("gyre-client") if "client" in names else []
    files = [str(LIBRARY.with_name(f"libgyre-{name}.a")) for name in names]
    return [*files, *others, "-lssl", "-lcrypto"] if names else []


def fences(text):
    """(line, language, code, file, server, prints) of each fenced block, with its hidden lines. A missing check is
    None."""
    for found in FENCE.finditer(text):
        code = (found["before"] or "") + found["code"] + (found["after"] or "")
        yield text[:found.start("code")].count("\n"), found["language"], code, *found.group("file", "server", "prints")


def lacks_asio(code):
    """Whether a fence needs an Asio that is not installed."""
    header = re.search(r"^#include <gyre/interop/(boost_)?asio\.hpp>", code, re.M)
    if not header:
        return False
    name = "boost/asio.hpp" if header.group(1) else "asio.hpp"
    found = subprocess.run(["clang++-19", "-E", "-x", "c++", "-"], input=f"#include <{name}>\n", capture_output=True,
                           text=True)
    return found.returncode != 0


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_it_listens(server, port):
    deadline = time.monotonic() + 30
    while server.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except ConnectionRefusedError:
            time.sleep(0.02)


def check_server(where, program, ports, check):
    """Starts the program, runs the command of the document against it, and stops it."""
    command, expected = check.replace("\\n", "\n").split(" => ")
    server = subprocess.Popen([str(program)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        for port in ports:
            wait_until_it_listens(server, port)
        done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)
        server.send_signal(signal.SIGTERM)
        _, errors = server.communicate(timeout=60)
    finally:
        if server.poll() is None:
            server.kill()
            server.communicate()
    if done.stdout != expected:
        return [f"{where}: {command}: printed {done.stdout!r}, not {expected!r} {done.stderr} {errors}"]
    return [] if server.returncode == 0 else [f"{where}: exit code {server.returncode} after SIGTERM: {errors}"]


def check_fence(where, code, file=None, server=None, prints=None):
    if file is not None:
        same = (ROOT / file).is_file() and (ROOT / file).read_text() == code
        return [] if same else [f"{where}: this is not the text of {file}; copy it"]
    if code.startswith("// file:"):
        return [f"{where}: show the text of the file, behind a check_docs comment that names it"]
    if lacks_asio(code):
        print(f"{where}: not compiled: there is no Asio")
        return []
    runs = re.search(r"^int main\(", code, re.M) is not None
    ports = {}  # of the document, and the free ones in their place
    if server is not None:
        for port in re.findall(r"127\.0\.0\.1:([1-9]\d*)", code):
            ports.setdefault(port, str(free_port()))
        if not runs or not any(port in server for port in ports):
            return [f"{where}: a server needs a main(), and a port of 127.0.0.1 that its check names, too"]
        named = re.compile(rf"\b({'|'.join(ports)})\b")
        code, server = (named.sub(lambda port: ports[port[0]], text) for text in (code, server))
    with tempfile.TemporaryDirectory() as scratch:
        source, program = Path(scratch, "fence.cpp"), Path(scratch, "fence")
        source.write_text(code)
        command = [*COMPILER, "-include-pch", str(precompiled()), str(source)]
        libraries = [*encrypted_with(code), str(LIBRARY), *linked_with()]
        command += ["-o", str(program), *libraries] if runs else ["-fsyntax-only"]
        built = subprocess.run(command, capture_output=True, text=True)
        if built.returncode != 0:
            return [f"{where}: does not compile:\n{built.stderr}"]
        if server is not None:
            return check_server(where, program, ports.values(), server)
        if runs:
            done = subprocess.run([str(program)], capture_output=True, text=True, timeout=60)
            if done.returncode != 0:
                return [f"{where}: exit code {done.returncode}: {done.stderr}"]
            if prints is not None and done.stdout != prints.replace("\\n", "\n"):
                return [f"{where}: printed {done.stdout!r}, not {prints!r}: {done.stderr}"]
    return []


def missing_asyncio_names(text):
    """Public names of asyncio, in this Python and in 3.12 and 3.13, that the table does not mention."""
    classes = ["AbstractEventLoop", "Task", "Future", "StreamReader", "StreamWriter", "Queue", "Lock", "Event",
               "Condition",
               "Semaphore", "Barrier", "Timeout", "TaskGroup", "Runner"]
    names = {*asyncio.__all__, "QueueShutDown", "EventLoop", "eager_task_factory", "create_eager_task_factory"}
    for each in classes:
        names |= {name for name, value in vars(getattr(asyncio, each)).items() if callable(value)}
    return sorted(name for name in names if name[0] != "_" and not re.search(rf"\b{name}\b", text))


def missing_features(text):
    """Names on the front pages of the layers, include/gyre/<layer>.hpp, that no row of the table has as code."""
    named = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]*)`", text))))
    for page in sorted((ROOT / "include/gyre").glob("*.hpp")):
        for entry in re.findall(r"^//   (\w[\w, ]*?)  +\S", page.read_text(), re.M):
            yield from (f"{name} ({page.name})" for name in re.findall(r"\w+", entry) if name not in named)


def without_listings(text):
    return re.sub(r"<!--.*?-->", "", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), flags=re.S)


def anchors(text):
    """The anchors of the headings, as code hosts generate them."""
    headings = re.findall(r"^#+ (.*)$", without_listings(text), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(file):
    for target, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)]*))?\)", without_listings(file.read_text())):
        page = file.parent / target if target else file
        if not page.exists():
            yield f"{file.relative_to(ROOT)}: link to {target}, which does not exist"
        elif anchor and anchor not in anchors(page.read_text()):
            yield f"{file.relative_to(ROOT)}: link to {target}#{anchor}, a heading that does not exist"


def main():
    names = missing_asyncio_names((ROOT / "docs/from-asyncio.md").read_text())
    problems = [f"docs/from-asyncio.md: says nothing of {name}" for name in names]
    features = (ROOT / "docs/features.md").read_text()
    problems += [f"docs/features.md: no row names {name}" for name in missing_features(features)]
    pieces = []
    folders = ["docs", "docs/guide", "docs/cookbook", "docs/coming-from"]
    every = [ROOT / "README.md", *(page for each in folders for page in sorted((ROOT / each).glob("*.md")))]
    for file in [Path(name).resolve() for name in sys.argv[1:]] or every:
        text = file.read_text()
        for line, language, *checks in fences(text):
            if language == "cpp":
                pieces.append((f"{file.relative_to(ROOT)}:{line}", *checks))
        comments = len(re.findall(r"check_docs:", text))
        used = sum(len(re.findall(r"check_docs:", found.group(0))) for found in FENCE.finditer(text))
        if comments != used:
            problems.append(f"{file.relative_to(ROOT)}: a check_docs comment that is beside no listing")
        problems += broken_links(file)
    precompiled()  # before the threads
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(lambda piece: check_fence(*piece), pieces):
            problems += found
    print("\n".join(problems) or f"documents: {len(pieces)} pieces of C++ compile, those with a main() run")
    sys.exit(bool(problems))


def self_test():
    """Each kind of mistake must be found."""
    _, language, code, *_ = next(fences("<!-- check_docs: before\nint a;\n-->\n```cpp\nint b;\n```\n"
                                       "<!-- check_docs: after\nint main() { return 7; }\n-->\n"))
    assert (language, code) == ("cpp", "int a;\nint b;\nint main() { return 7; }\n"), code
    assert "exit code 7" in "".join(check_fence("self-test", code)), "a check behind a listing must run"
    assert check_fence("self-test", "int wrong = nonsense;\n"), "a fence that does not compile must be found"
    silent = "".join(check_fence("self-test", "int main() {}\n", prints="hello\\n"))
    assert "printed ''" in silent, "a program with another output must be found"
    other = check_fence("self-test", "int main() {}\n", "examples/01_echo.cpp")
    assert other, "a listing unlike its file must be found"
    deaf = ("gyre::task<> ends(gyre::tcp_stream) { co_return; }\n"
            'gyre::task<> serve() { co_await gyre::tcp_listener::bind("127.0.0.1:8888").serve(ends); }\n'
            "int main() { return gyre::run_main(serve()); }\n")
    check = "curl -s telnet://127.0.0.1:8888 </dev/null => hello"
    answered = "".join(check_fence("self-test", deaf, server=check))
    assert "not 'hello'" in answered, "a server with another answer must be found"
    assert "request (http.hpp)" in list(missing_features("`response`")), "a type that no row names must be found"
    assert anchors("# A b, `c`\n```sh\n# no\n```\n") == {"a-b-c"}


if __name__ == "__main__":
    self_test()
    main()
