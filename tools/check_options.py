#!/usr/bin/env python3
"""Fails unless docs/guide/options.md names exactly the members of the option structs and the options of `gyre serve`
and `gyre proxy`, each with its default. The structs are read from the headers, the options from the help of the
commands (release build). The table of `gyre proxy` leaves out the options that it shares with `gyre serve`."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/guide/options.md"
PROGRAM = ROOT / "build/release/bin/gyre"
STRUCTS = {
    "http::server_options": "http/server_options.hpp",
    "http::server_limits": "http/server_limits.hpp",
    "http::server_timeouts": "http/server_limits.hpp",
    "http::head_limits": "http/parse_error.hpp",
    "listen_options": "net/tcp_listener.hpp",
    "unix_listen_options": "net/unix_listener.hpp",
    "serve_options": "net/stream_listener.hpp",
    "process_options": "process/process_options.hpp",
}
COMMANDS = ("serve", "proxy")
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "ms": 1, "s": 1000, "seconds": 1000, "milliseconds": 1}


def members(text, struct):
    """{name: initializer} of a struct that the text declares."""
    body = re.search(rf"^struct {struct} \{{\n(.*?)^\}};", text, re.M | re.S)
    if not body:
        raise SystemExit(f"there is no struct {struct}")
    code = re.sub(r"//.*", "", body[1])
    declaration = re.compile(r"^  (?!static )[\w:<>* ]*[\w>*&] +(\w+)(?: = (.*?)|\{(.*?)\})?;", re.M | re.S)
    return {found[1]: (found[2] or found[3] or "").strip() for found in declaration.finditer(code)}


def value_of_code(code):
    """A number, in milliseconds or bytes, or a text. None for a default that the page describes in its own words."""
    duration = re.fullmatch(r"std::chrono::(seconds|milliseconds)\((\d+)\)", code)
    if duration:
        return int(duration[2]) * UNITS[duration[1]]
    if code in ("", "{}", "nullptr") or code.endswith(("::max()", "::inherit()")):
        return None
    if re.fullmatch(r"[a-z_]+::[a-z_]+", code):  # of an enumeration
        return None
    if code in ("true", "false") or code.startswith("0") and code != "0":
        return code
    if code.startswith('"'):
        return code.strip('"')
    numbers = re.sub(r"std::\w+\{(\d+)\}", r"\1", code).replace("'", "")
    if not re.fullmatch(r"[\d *]+|\d+ << \d+U", numbers):
        raise SystemExit(f"the default {code} is not understood")
    return eval(numbers.replace("U", ""))  # noqa: S307: digits, *, <<


def value_of_page(cell):
    """The same for a cell of the page."""
    found = re.fullmatch(r"([\d,]+)(?: (\w+))?", cell)
    if found and (found[2] is None or found[2] in UNITS) and not cell.startswith("0"):
        return int(found[1].replace(",", "")) * UNITS.get(found[2], 1)
    return cell.strip("`")


def tables(text):
    """{heading: rows}. Each row is the cells of a line; the head of the table is left out."""
    parts = re.split(r"^## `([^`]+)`$", text, flags=re.M)
    result = {}
    for name, body in zip(parts[1::2], parts[2::2]):
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\|.*\|$", body, re.M)]
        result[name] = rows[2:]
    return result


def differences(where, expected, said):
    """The differences between two dictionaries of names and defaults. None matches any default."""
    problems = [f"{where}: the page does not name {name}" for name in expected.keys() - said.keys()]
    problems += [f"{where}: there is no {name}" for name in said.keys() - expected.keys()]
    for name in expected.keys() & said.keys():
        if expected[name] is not None and expected[name] != said[name]:
            problems.append(f"{where}: the default of {name} is {expected[name]}, the page says {said[name]}")
    return problems


def options_of_command(name):
    """{("--flag", "GYRE_VARIABLE"): default} from the help of the command."""
    help_text = subprocess.run([PROGRAM, name, "--help"], capture_output=True, text=True, check=True,
                               env={k: v for k, v in os.environ.items() if not k.startswith("GYRE_")}).stdout
    options = {}
    for line in re.findall(r"^  ((?:-\w,)?--\S+.*)$", help_text, re.M):
        flags = re.sub(r"\{.*?\}", "", line.split()[0])
        if "--help" in flags or "--version" in flags:
            continue
        variable = re.search(r"\(Env:(\w+)\)", line)
        default = re.search(r"^\S+ .*?[\w\]}]=(.+?)(?: \(Env|  |$)", line)
        is_flag = re.match(r"\S+(?: \(Env|  |$)", line) is not None
        value = default[1] if default else "required" if " REQUIRED" in line else None if is_flag else ""
        seconds = re.search(r" FLOAT=([\d.]+)", line)
        if seconds:
            value = round(float(seconds[1]) * 1000)
        elif value is not None and value.isdigit():
            value = int(value)
        options[(flags.replace(",", ", "), variable[1] if variable else "")] = value
    return options


def check_page(text):
    problems, found = [], tables(text)
    for struct, header in STRUCTS.items():
        code = (ROOT / "include/gyre" / header).read_text()
        expected = {name: value_of_code(default) for name, default in members(code, struct.split("::")[-1]).items()}
        said = {row[0].strip("`"): value_of_page(row[1]) for row in found.get(struct, [])}
        problems += differences(struct, expected, said)
    shared = {}
    for command in COMMANDS:
        rows = [row for row in found.get(f"gyre {command}", []) if row[0] != "`DIR`"]
        said = {(row[0].replace("`", ""), "".join(row[1:-2]).strip("`")): value_of_page(row[-2]) for row in rows}
        expected = {key: value for key, value in options_of_command(command).items()
                    if key not in shared or shared[key] != value}
        problems += differences(f"gyre {command}", expected, said)
        shared = shared or expected
    return problems


def self_test(text):
    for old, new in (("| `drain` | 10 s |", "| `drain` | 11 s |"), ("| `backlog` |", "| `log` |"),
                     ("| `GYRE_ADMIN` |", "| `ADMIN` |"),
                     ("| `--spa` | `GYRE_SPA` | off |", "| `--sp` | `GYRE_SPA` | off |"), ("| 4 GiB |", "| 5 GiB |"),
                     ("| `--max-fails` | 3 |", "| `--max-fails` | 4 |"), ("| `--to` |", "| `--too` |"),
                     ("| no limit |", "| 1 GiB |")):
        assert old in text and check_page(text.replace(old, new, 1)), f"the check misses {new}"


def main():
    text = PAGE.read_text()
    problems = sorted(map(str, check_page(text)))
    if not problems:
        self_test(text)
    print("\n".join(problems) or f"options: {PAGE.relative_to(ROOT)} is complete")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
