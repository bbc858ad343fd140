#!/usr/bin/env python3
"""Checks the symbols that gyre's shared libraries export: each belongs to namespace gyre, has the version of the ABI,
and has a name that a public header declares. A class that is nested in a public one, but defined in src/, has the
visibility of the public one: its definition must say [[gnu::visibility("hidden")]]. What they import is in glibc 2.36,
that of Debian 12.

    tools/check_exports.py LIBRARY.so..."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GLIBC = (2, 36)
PREFIX = re.compile(r"^(typeinfo( name)?|vtable|VTT|guard variable|(non-)?virtual thunk|TLS \w+ function) (for|to) ")


def public_words():
    """Every word of the public headers outside of comments."""
    texts = [re.sub(r"//.*", "", each.read_text()) for each in (ROOT / "include/gyre").rglob("*.hpp")]
    return {word for text in texts for word in re.findall(r"\w+", text)}


def private_classes():
    """outer::nested, of classes whose headers only declare them."""
    nested = re.compile(r"^(?:struct|class|union) (?:\[\[.*?\]\] )?((?:\w+::)+\w+)[^;()]*\{$", re.M)
    return {name for each in (ROOT / "src").rglob("*.[ch]pp") for name in nested.findall(each.read_text())}


def without_brackets(name):
    """The name without arguments of templates and functions, innermost first."""
    name = re.sub(r"\boperator(<=>|<<|>>|<=|>=|->|<|>|\(\))", "operator", name)
    while True:
        shorter = re.sub(r"<[^<>()]*>|\((?!anonymous namespace)[^<>()]*\)", "", name)
        if shorter == name:
            return name
        name = shorter


def qualified_name(symbol):
    """gyre::http::server::run of its declaration, or None for a symbol of another namespace."""
    name = without_brackets(PREFIX.sub("", re.sub(r"\[abi:\w+\]", "", symbol)))
    found = re.match(r"(?:[\w:*& ]+ )?(gyre::[\w:~]*)", name)
    return found and found[1]


def problems_of(symbols, words, private):
    """Of demangled symbols with their versions, "name@@VERSION"."""
    for each in symbols:
        symbol, _, version = each.partition("@@")
        name = qualified_name(symbol)
        if name is None or "(anonymous namespace)" in symbol:
            yield f"{symbol}: is not of namespace gyre"
            continue
        if not version.startswith("GYRE_"):
            yield f"{symbol}: has no version"
        unknown = [part for part in re.findall(r"\w+", name) if part not in words]
        unknown += [each for each in private if f"::{each}::" in f"{name}::"]
        if unknown:
            yield f"{symbol}: no public header declares {', '.join(unknown)}"


def exported(library):
    lines = subprocess.run(["nm", "-DC", "--defined-only", library], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    return [line.split(" ", 2)[2] for line in lines if not re.fullmatch(r"\S+ A GYRE_[\d.]+(@@GYRE_[\d.]+)?", line)]


def too_new(imported):
    """Of lines of nm, "U name@GLIBC_2.34", those that an older glibc than ours lacks."""
    for name, version in re.findall(r"(\S+)@GLIBC_([\d.]+)", imported):
        if tuple(map(int, version.split("."))) > GLIBC:
            yield f"{name}: needs glibc {version}"


def imports(library):
    return subprocess.run(["nm", "-D", "--undefined-only", library], capture_output=True, text=True, check=True).stdout


def self_test():
    assert list(too_new("U a@GLIBC_2.2.5\nU b@GLIBC_2.36\nU c@GLIBC_2.38\n")) == ["c: needs glibc 2.38"]
    words = {"gyre", "operator", "http", "server", "run", "any_stream", "model", "state"}
    good = ["gyre::http::server::run(std::span<char, 3ul>) &@@GYRE_0.1", "vtable for gyre::http::server@@GYRE_0.1",
            "void gyre::run<std::pair<int, int> >(int (*)(char))@@GYRE_0.1", "gyre::operator<(int)@@GYRE_0.1",
            "typeinfo for gyre::any_stream::model<gyre::secret>@@GYRE_0.1"]
    assert not list(problems_of(good, words, set())), list(problems_of(good, words, set()))
    for bad in ("std::__cxx11::to_string(int)@@GYRE_0.1", "gyre::http::server::run()", "stray@@GYRE_0.1",
                "gyre::http::parser_state::run()@@GYRE_0.1", "gyre::http::server::state::run()@@GYRE_0.1",
                "std::vector<gyre::http::server>::size()@@GYRE_0.1",
                "gyre::(anonymous namespace)::run()@@GYRE_0.1"):
        assert len(list(problems_of([bad], words, {"server::state"}))) >= 1, bad


def main():
    words, private = public_words(), private_classes()
    assert private, "no private class found in src/"
    count, problems = 0, []
    for library in sys.argv[1:]:
        symbols = exported(library)
        count += len(symbols)
        problems += [f"{Path(library).name}: {each}"
                     for each in [*problems_of(symbols, words, private), *too_new(imports(library))]]
        if not symbols:
            problems.append(f"{library}: exports nothing")
    print("\n".join(problems) or f"exports: {count} symbols, all of them public")
    sys.exit(bool(problems))


if __name__ == "__main__":
    self_test()
    main()
