#!/usr/bin/env python3
"""Fails when a public header is too long, too expensive to include, or lacks its contract. The target gyre_alone
compiles each header alone: ./gyre build release alone."""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include"
COMPILER = "clang++-19"
MAX_LINES = 300
LONG_BY_NATURE = set()  # exceptions such as tables of the kernel's constants, named individually
BANNED = {"functional", "memory", "stop_token", "mutex", "thread", "future", "iostream", "algorithm", "ranges", "regex",
          "filesystem"}

# The cost of including a header, in preprocessed lines, by the most expensive standard header that it needs.
BUDGET = [("chrono", 42_600), ("memory_resource", 31_000), ("system_error", 29_000), ("vector", 29_000),
          ("string", 24_000), ("string_view", 19_000), ("", 19_000)]
FOLDER_BUDGET = {"coro": 9_000}
TOP_LAYERS = {"http": 1_000, "client": 1_500, "testing": 1_000}  # allowance for more of our own lines below them
WHOLE_LIBRARY = 49_350  # 40,000 of these are the standard library's

# A function that returns an awaitable. Its contract must say what a cancel leaves behind.
AWAITED = re.compile(r"^\s*(?:\[\[[^\]]*\]\]\s*|GYRE_\w+\s+|static\s+|inline\s+|friend\s+)*"
                     r"((?:\w+::)*(?:task<.*>|\w+_op(?:<.*>)?))\s+(\w+)\s*\(")


def is_bridge(name):
    """Whether the header bridges to a library that is far larger than gyre and is included beside it."""
    return name.startswith("interop/")


def text_problems(name, text):
    problems = []
    lines = text.splitlines()
    if not lines[0].startswith(f"// gyre/{name}: "):
        problems.append(f"{name}: the first line must be \"// gyre/{name}: what it is.\"")
    if "#pragma once" not in lines:
        problems.append(f"{name}: no #pragma once")
    if len(lines) > MAX_LINES and name not in LONG_BY_NATURE:
        problems.append(f"{name}: {len(lines)} lines, more than {MAX_LINES}: two concepts in one file?")
    for number, line in enumerate(lines, 1):
        include = re.match(r"\s*#\s*include\s*<(\w+)>", line)
        if include and include.group(1) in BANNED and not is_bridge(name):
            problems.append(f"{name}:{number}: <{include.group(1)}> is too expensive for a public header")
        if re.match(r"\s*#\s*define", line) and name != "attributes.hpp":
            problems.append(f"{name}:{number}: macros belong into attributes.hpp")
    return problems + contract_problems(name, lines)


def contract_problems(name, lines):
    """Every public function that returns an awaitable, or its class, needs a Cancel: label in its comment."""
    if name.startswith("testing/"):
        return []
    problems = []
    comment, class_comment, private = [], [], False
    for number, line in enumerate(lines, 1):
        stripped = line.strip()
        if stripped.startswith("///"):
            comment.append(stripped)
            continue
        if re.match(r"(class|struct)\s", stripped) and stripped.endswith("{"):
            class_comment, private = comment, stripped.startswith("class")
        if stripped in ("private:", "protected:"):
            private = True
        if stripped == "public:":
            private = False
        if stripped == "};":
            private = False
        found = AWAITED.match(line)
        if found and not private and not re.match(r"(operator|get_return_object)", found.group(2)):
            if not any("Cancel:" in c for c in comment + class_comment) and not repeated(lines, number, found.group(2)):
                if comment or not line.startswith("template"):
                    problems.append(f"{name}:{number}: {found.group(2)} returns an awaitable; "
                                    'its comment needs "Cancel:"')
        if stripped and not stripped.startswith(("template", "requires", "[[", "GYRE")):
            comment = []
    return problems


def repeated(lines, number, function):
    """Whether it is an overload directly after the documented one, or a template helper without a comment."""
    before = "\n".join(lines[:number - 1])
    documented = re.search(rf"Cancel:(?:(?!\n\n\S).)*?\b{function}\(", before, re.S)
    return documented is not None or not lines[number - 2].strip().startswith("///") and "///" not in "\n".join(
        lines[max(0, number - 4):number - 1])


def budget(name, text):
    if "/" not in name:  # the front page of a layer, and gyre.hpp: for programs that do not mind the cost
        return WHOLE_LIBRARY
    closure = included(name, set())
    for header, limit in BUDGET:
        if not header or header in closure:
            limit += TOP_LAYERS.get(name.split("/")[0], 0)
            own = FOLDER_BUDGET.get(name.split("/")[0], limit)
            return max(own, limit) if header in ("chrono", "memory_resource", "system_error", "vector") else own
    return 19_000


def included(name, seen):
    """Names of the standard headers that a header includes, directly or through ours."""
    if name in seen:
        return set()
    seen.add(name)
    found = set()
    for target in re.findall(r"#\s*include\s*<([^>]+)>", (INCLUDE / "gyre" / name).read_text()):
        if target.startswith("gyre/"):
            found |= included(target[len("gyre/"):], seen)
        else:
            found.add(target)
    return found


def cost_problems(name):
    if is_bridge(name) or name.startswith("testing"):  # tests have no budget
        return []
    source = f"#include <gyre/{name}>\n"
    expanded = subprocess.run([COMPILER, "-std=c++23", f"-I{INCLUDE}", "-x", "c++", "-E", "-P", "-"], input=source,
                              capture_output=True, text=True, check=True).stdout
    cost = expanded.count("\n")
    limit = budget(name, source)
    return [f"{name}: {cost} preprocessed lines, budget {limit}"] if cost > limit else []


def check():
    names = sorted(f.relative_to(INCLUDE / "gyre").as_posix() for f in (INCLUDE / "gyre").rglob("*.hpp"))
    problems = []
    for name in names:
        problems += text_problems(name, (INCLUDE / "gyre" / name).read_text())
    macros = len(re.findall(r"^#define (\w+)", (INCLUDE / "gyre/attributes.hpp").read_text(), re.M))
    if macros > 14:  # each is defined for two compilers at most
        problems.append(f"attributes.hpp: {macros} macros")
    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(cost_problems, names):
            problems += found
    for file in sorted((ROOT / "src").rglob("*.cpp")):
        lines = file.read_text().splitlines()
        for number, line in enumerate(lines, 1):
            if "catch (...)" in line and not any("throw;" in l or "current_exception" in l
                                                 for l in lines[number:number + 6]):
                if "//" not in line:  # a comment must say why nothing is rethrown
                    problems.append(f"{file.relative_to(ROOT)}:{number}: catch (...) swallows a cancel")
    return problems, len(names)


def self_test():
    bad = text_problems("x.hpp", "// wrong\n#include <memory>\n#define A\n/// Reads.\ntask<> read(int);\n")
    assert len(bad) == 5, bad
    assert not text_problems("x.hpp",
                             "// gyre/x.hpp: x.\n#pragma once\n/// Reads.\n/// Cancel: nothing.\ntask<> read(int);\n")


if __name__ == "__main__":
    self_test()
    problems, count = check()
    print("\n".join(problems) or f"headers: {count} within their budgets, with their contracts")
    sys.exit(bool(problems))
