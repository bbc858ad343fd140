#!/usr/bin/env python3
"""Fails when an include, a forward declaration or a friend goes upwards, when a layer uses nothing of a layer that it
declares, and when a layer above io calls the operating system: every call goes through gyre/io/kernel.hpp, where a
backend can replace it (docs/decisions/0023). Reads the gyre_layer() lines of CMakeLists.txt, include/gyre and src.

A layer a_b lives in src/a/b. It shares include/gyre/a with layer a: a public header belongs to a_b if src/a/b has the
.cpp file of the same name. Its front page is that of a."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAME = r"(?:GYRE_API |\[\[.*?\]\] ?)*(?:\w+::)*(\w+)"  # of a class, behind the keyword
KIND = r"^\s*(?:template <.*> )?(?:friend )?(?:class|struct|enum class|union) "
DEFINITION = re.compile(rf"{KIND}{NAME}(?: final)?(?: : | ?{{|$)", re.M)
DECLARATION = re.compile(rf"{KIND}{NAME}(?: : [\w:]+)?;")
OS_HEADER = re.compile(r"(?<!intrin)\.h$|^csignal$")  # the standard headers of C++ have no such ending
THIRD_PARTY = re.compile(r"^(fmt|CLI|gtest|gmock|openssl|nghttp2|zlib|brotli|zstd|libpsl|asio|boost|uv)\b")
INTEROP = re.compile(r"^(asio|boost)\b")  # the libraries that the headers of interop/ serve
BACKEND_WORD = re.compile(r"\b(io_uring|epoll)_\w+\s*\(|\bIORING_\w+|\bEPOLL\w+")
# These functions of the C library only compute.
COMPUTES = ("deflate", "inflate", "gmtime_r", "strnlen", "explicit_bzero", "secure_getenv", "strerrordesc_np",
            "gai_strerror", "inet_ntop", "inet_pton")
SYSTEM_CALL = re.compile(rf"(?<![\w>])::(?!{'|'.join(COMPUTES)})[a-z]\w*\(")
# Headers from which net and fs take layouts and constants: addresses, options, flags, records. <unistd.h> and
# others that mostly declare calls are not among them.
LAYOUT_LAYERS = {"net", "fs"}
LAYOUT_HEADER = re.compile(r"(arpa/inet|dirent|fcntl|linux/\w+|net/if|netdb|netinet/\w+|poll|"
                           r"sys/(inotify|socket|stat|sysmacros|uio|un))\.h")
FOUNDATION = {"attributes", "checked_build", "version"}  # headers that every layer may include
NO_FRONT_PAGE = {"interop"}  # a program includes the header for the library that it uses

# Other files that may include headers of the operating system and call it, with the reason. An unused entry is an
# error.
SYSTEM_USERS = {
    "src/coro/misuse.cpp": "prints the reason without waiting for a reader, and ends the program",
    "include/gyre/testing/cancel_at_every_await.hpp": "counts the open descriptors of the test's process",
    "src/fs/standard_streams.cpp": "the numbers of the standard streams, from unistd.h; calls nothing",
    "src/fs/whole_file.cpp": "the process's number, which makes the name of a temporary file unique",
    "src/http/semantics/host.cpp": "the header of inet_pton, which reads the text of an IPv6 address",
    "src/interop/service_thread.cpp": "starts a thread that receives no signals",
    "src/loop/event_loop.cpp": "fork handlers, and the end of a time slice for a thread that is about to leave post()",
    "src/loop/guest_loop.cpp": "the header of pollfd; the call goes through the kernel of the loop",
    "src/process/": "starts, signals and awaits children, which is the layer's subject",
    "src/tls/key_log.cpp": "the header of the flags of open(2); the calls go through the kernel of the thread",
    "src/runtime/": "signals, limits and cores of the whole process, which are the layer's subject",
}
# Classes of a layer above that a layer may declare, and why. An entry that nothing needs is an error.
DECLARED_ABOVE = {
    ("coro", "task_local_binding"): "a pointer that coro only passes on from a task to the tasks that it starts",
    ("http", "shared_connection_count"): "a pointer that the options of a server only pass on to it",
    ("loop", "remote_call"): "runs a function in the outermost scopes of another loop, which nobody else may enter",
}
# Layers that include private headers of another folder: the exchange in memory of testing implements those of HTTP.
PRIVATE_OF = {"testing": "http"}
# Layers that use only these headers of another layer.
ONLY = {("http_semantics", "io"): {"gyre/io/printable.hpp"}}


def layers(cmake):
    found = {}
    for name, uses in re.findall(r"^gyre_layer\((\w+)(?:\s+USES\s+([\w ]+))?\)", cmake, re.M):
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


def code_of(line):
    return re.sub(r'//.*|"[^"]*"', "", line)


class Tree:
    """The sources of a project: {path: text}."""

    def __init__(self, cmake, files):
        self.layers = layers(cmake)
        self.allowed = {name: reachable(self.layers, name) for name in self.layers}
        self.files = files
        self.used = set()  # (layer, a layer that it includes)
        self.system_users = set()
        self.declared_above = set()
        self.problems = []
        self.defining = {}  # the name of a class: the layers that define one
        for path, text in files.items():
            for name in DEFINITION.findall(text):
                self.defining.setdefault(name, set()).add(self.layer_of(path))

    def layer_of_header(self, target):
        """The layer of <gyre/...>, or None for a header of no layer."""
        folder, _, name = target.removeprefix("gyre/").removesuffix(".hpp").rpartition("/")
        if not folder:
            return name if name in self.layers else None
        for layer in self.layers:
            above, _, below = layer.partition("_")
            if above == folder and below and f"src/{above}/{below}/{name}.cpp" in self.files:
                return layer
        return folder.split("/")[0]

    def layer_of(self, path):
        if path.startswith("include/"):
            return self.layer_of_header(path.removeprefix("include/"))
        above, below = (path.split("/") + [""])[1:3]
        return f"{above}_{below}" if f"{above}_{below}" in self.layers else above

    def check(self):
        for path, text in self.files.items():
            if path.count("/") == 2 and path.startswith("include/"):
                self.check_front_page(path, text)
            elif self.layer_of(path) in self.layers:
                self.check_file(path, self.layer_of(path), text)
            else:
                self.problems.append(f"{path}: {self.layer_of(path)} is not a layer of CMakeLists.txt")
        for layer, uses in self.layers.items():
            unused = [each for each in uses if (layer, each) not in self.used]
            self.problems += [f"CMakeLists.txt: layer {layer} uses nothing of {each}" for each in unused]
            page = f"include/gyre/{layer}.hpp"
            if "_" not in layer and layer not in NO_FRONT_PAGE and page not in self.files:
                self.problems.append(f"{page}: layer {layer} has no front page")
        for each in [*SYSTEM_USERS.keys() - self.system_users, *DECLARED_ABOVE.keys() - self.declared_above]:
            self.problems.append(f"tools/check_layers.py: {each} no longer needs its exception")
        return self.problems

    def check_front_page(self, path, text):
        name = Path(path).stem
        if name not in self.layers and name not in FOUNDATION | {"gyre"}:
            self.problems.append(f"{path}: the front page of no layer")
        for target in re.findall(r"^#include <(gyre/.*)>", text, re.M):
            page = target.count("/") == 1
            own = not page and target.split("/")[1] == name
            if not (page if name == "gyre" else own) and target != "gyre/attributes.hpp":
                self.problems.append(f"{path}: a front page includes the headers of its layer only, not {target}")

    def check_file(self, path, layer, text):
        for number, line in enumerate(text.splitlines(), 1):
            include = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
            if include:
                found = self.check_include(path, layer, *include.groups())
            else:
                found = self.check_code(path, layer, line)
            self.problems += [f"{path}:{number}: {problem}" for problem in found]

    def check_include(self, path, layer, quote, target):
        public = path.startswith("include/")
        if quote == '"':
            if public:
                return [f'public headers include <gyre/…>, not "{target}"']
            beside = f"{path.rpartition('/')[0]}/{target}"
            below = f"src/{path.split('/')[1]}/{target}"  # a folder of the layer, or of a layer inside of its folder
            other = f"src/{PRIVATE_OF.get(layer)}/{target}"
            resolved = next((each for each in (beside, below, other) if each in self.files), None)
            if resolved is None:
                return [f"a private header of another folder: {target}"]
            return self.check_use(layer, self.layer_of(resolved), target)
        if target.startswith("gyre/"):
            if target == "gyre/gyre.hpp":
                return ["gyre.hpp is for programs"]
            above = self.layer_of_header(target)
            return self.check_use(layer, above, target) if above else []
        if THIRD_PARTY.match(target):
            allowed = not public or (layer == "interop" and INTEROP.match(target))
            return [] if allowed else [f"third-party header in a public header: {target}"]
        if not OS_HEADER.search(target):
            return []
        if public and not path.startswith("include/gyre/io/uring/") and not self.is_system_user(path):
            return [f"system header outside io/uring: {target}"]
        if layer == "io" or (layer in LAYOUT_LAYERS and LAYOUT_HEADER.fullmatch(target)):
            return []
        return [] if self.is_system_user(path) else [f"system header above io: {target}"]

    def check_use(self, layer, other, target):
        if other not in self.allowed[layer]:
            return [f"layer {layer} includes {target}, which is above it"]
        self.used.add((layer, other))
        if target not in ONLY.get((layer, other), {target}):
            return [f"layer {layer} does not include {target}"]
        return []

    def check_code(self, path, layer, line):
        code = code_of(line)
        problems = []
        declared = DECLARATION.match(code)
        above = self.defining.get(declared[1], set()) if declared else set()
        if above and not above & self.allowed[layer] and (layer, declared[1]) in DECLARED_ABOVE:
            self.declared_above.add((layer, declared[1]))
        elif above and not above & self.allowed[layer]:
            problems.append(f"layer {layer} declares {declared[1]}, which is above it")
        if layer != "io" and BACKEND_WORD.search(code):
            problems.append(f"only io/ may name a backend's interface: {line.strip()}")
        if SYSTEM_CALL.search(code) and layer != "io" and not self.is_system_user(path):
            problems.append(f"system call above io: {line.strip()}")
        return problems

    def is_system_user(self, path):
        found = {each for each in SYSTEM_USERS if path.startswith(each)}
        self.system_users |= found
        return bool(found)


def sources(root):
    files = sorted(file for tree in ("include/gyre", "src") for file in (root / tree).rglob("*.?pp"))
    return {file.relative_to(root).as_posix(): file.read_text() for file in files}


def self_test():
    """Every rule finds a line that breaks it, and nothing in its neighbours that keep it."""
    cmake = "gyre_layer(io)\ngyre_layer(a_text USES io)\ngyre_layer(a USES a_text io)\ngyre_layer(interop USES a)\n"
    cmake += "gyre_layer(net USES io)\n"
    good = {
        "include/gyre/attributes.hpp": "#include <cstddef>\n",
        "include/gyre/gyre.hpp": "#include <gyre/a.hpp>\n#include <gyre/io.hpp>\n",
        "include/gyre/io.hpp": "#include <gyre/io/x.hpp>\n",
        "include/gyre/net.hpp": "",
        "include/gyre/a.hpp": "#include <gyre/a/word.hpp>\n#include <gyre/a/user.hpp>\n",
        "include/gyre/io/x.hpp": "",
        "include/gyre/io/uring/ring.hpp": "#include <sys/mman.h>\n",
        "include/gyre/a/word.hpp": "#include <gyre/attributes.hpp>\nclass SSL;\nclass GYRE_API word : public x {\n",
        "include/gyre/a/user.hpp": "#include <gyre/a/word.hpp>\nclass word;\nclass user {\n  friend class word;\n};\n",
        "include/gyre/interop/asio.hpp": "#include <asio/post.hpp>\n#include <gyre/a.hpp>\n",
        "src/io/x.cpp": "#include <unistd.h>\n::close(3); ::epoll_wait(3);\n",
        "src/a/text/word.cpp": '#include <gyre/io/x.hpp>\n#include "word_part.hpp"\n::strnlen(p, 3);\n',
        "src/a/text/word_part.hpp": "",
        "src/a/part/user.cpp": '#include <gyre/io.hpp>\n#include "text/word_part.hpp"\n// epoll_wait(2)\nf(::y);\n',
        "src/net/n.cpp": "#include <gyre/io/x.hpp>\n#include <sys/socket.h>\n::inet_pton(1);\n",
        "src/interop/thread.cpp": "#include <gyre/a/user.hpp>\n",
    }

    def problems(**changes):
        files = dict(good)
        for path, text in changes.pop("files", {}).items():
            files[path] = files.get(path, "") + text
        exceptions = [*SYSTEM_USERS, *DECLARED_ABOVE]
        stale = {f"tools/check_layers.py: {each} no longer needs its exception" for each in exceptions}
        return [each for each in Tree(changes.get("cmake", cmake), files).check() if each not in stale]

    assert problems() == [], problems()
    for path, line in (
        ("include/gyre/io/x.hpp", "#include <gyre/a/user.hpp>"), ("include/gyre/io/x.hpp", "#include <gyre/a.hpp>"),
        ("src/a/text/word.cpp", "#include <gyre/a/user.hpp>"), ("src/a/text/word.cpp", '#include "part/user.hpp"'),
        ("include/gyre/a/word.hpp", "#include <gyre/a/user.hpp>"), ("include/gyre/a/user.hpp", '#include "word.hpp"'),
        ("include/gyre/a.hpp", "#include <gyre/io/x.hpp>"), ("include/gyre/gyre.hpp", "#include <gyre/a/user.hpp>"),
        ("include/gyre/b.hpp", ""), ("src/b/x.cpp", ""), ("src/a/part/user.cpp", "#include <gyre/gyre.hpp>"),
        ("include/gyre/a/user.hpp", "#include <fmt/core.h>"), ("include/gyre/interop/asio.hpp", "#include <uv.h>"),
        ("include/gyre/a/user.hpp", "#include <poll.h>"), ("include/gyre/io/x.hpp", "#include <poll.h>"),
        ("src/a/part/user.cpp", "#include <sys/stat.h>"), ("src/a/part/user.cpp", "#include <csignal>"),
        ("include/gyre/a/word.hpp", "class user;"), ("src/a/text/word.cpp", "  friend class user;"),
        ("src/net/n.cpp", "#include <unistd.h>"), ("src/net/n.cpp", "::bind(fd, p, n);"),
        ("src/a/part/user.cpp", "return ::read(fd, p, n);"), ("src/a/part/user.cpp", "io_uring_enter(1);"),
    ):
        assert len(problems(files={path: line + "\n"})) == 1, (path, line, problems(files={path: line + "\n"}))
    assert problems(cmake=cmake + "gyre_layer(c USES a)\n") == [
        "CMakeLists.txt: layer c uses nothing of a", "include/gyre/c.hpp: layer c has no front page"]
    ONLY["a_text", "io"] = {"gyre/io/y.hpp"}
    assert problems() == ["src/a/text/word.cpp:1: layer a_text does not include gyre/io/x.hpp"], problems()
    del ONLY["a_text", "io"]
    used = Tree(cmake, good)
    assert len(used.check()) == len(SYSTEM_USERS) + len(DECLARED_ABOVE), "an exception that nothing needs is an error"
    assert used.layer_of("include/gyre/a/word.hpp") == "a_text" and used.layer_of("include/gyre/a/user.hpp") == "a"


if __name__ == "__main__":
    self_test()
    found = Tree((ROOT / "CMakeLists.txt").read_text(), sources(ROOT)).check()
    print("\n".join(found) or "layers: every include, declaration and friend goes downwards")
    sys.exit(bool(found))
