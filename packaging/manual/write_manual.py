#!/usr/bin/env python3
"""Writes the manual pages of `gyre`: write_manual.py PROGRAM FOLDER

The options come from the help of the program. Examples, exit codes and files come from sections/PAGE.man beside this
script. SOURCE_DATE_EPOCH sets the date, so that a build can be repeated.
"""

import datetime
import os
import re
import subprocess
import sys
from pathlib import Path

import command_help

SECTIONS = Path(__file__).resolve().parent / "sections"
GUIDE = SECTIONS.parents[2] / "docs/guide"


def exit_codes():
    """The table of exit codes in the guide to `gyre fetch`, as roff."""
    for code, failure in re.findall(r"^\| (\d+) \| (.*) \|$", (GUIDE / "fetch.md").read_text(), re.M):
        yield from (".TP", code, sentence(failure.replace("`", "")))


def escaped(text):
    """A text as roff: hyphens can be copied into a shell, and no line is a request."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return r"\&" + text if text.startswith((".", "'")) else text


def bold(text):
    return rf"\fB{escaped(text)}\fR"


def sentence(text):
    """A description of the help as a sentence. A value at its beginning ("auto, io_uring or epoll") stays as it is."""
    if re.match(r"[a-z]+( |$)", text):
        text = text[0].upper() + text[1:]
    return escaped(text + ("" if text.endswith(".") else "."))


def heading(option):
    if not option.names[0].startswith("-"):
        return rf"\fI{escaped(option.names[0])}\fR"
    return ", ".join(map(bold, option.names)) + (rf" \fI{option.placeholder}\fR" if option.placeholder else "")


def described(option):
    yield ".TP"
    yield heading(option)
    yield sentence(option.what)
    if option.rule.startswith("in "):
        least, most = re.findall(r"\d+", option.rule)
        yield f"At least {least}, at most {most}."
    if option.default == ".":
        yield "Defaults to the current directory."
    elif option.default:
        yield rf"Defaults to {bold(option.default)}."
    if option.required:
        yield "Required."
    if option.variable:
        yield f"Environment variable: {bold(option.variable)}."


def synopsis(command):
    yield ".SH SYNOPSIS"
    parts = [bold(" ".join(command.words))]
    if command.commands:
        parts += [r"\fICOMMAND\fR", r"[\fIOPTIONS\fR]"]
    else:
        parts += [r"[\fIOPTIONS\fR]"]
    for each in command.positionals:
        name = rf"\fI{each.names[0]}\fR" + (r" \&..." if each.repeated else "")
        parts.append(name if each.required else f"[{name}]")
    yield " ".join(parts)


def page(command, version, date):
    name = "-".join(command.words)
    yield f'.TH {name.upper()} 1 "{date}" "gyre {version}" "User Commands"'
    yield ".SH NAME"
    yield rf"{escaped(name)} \- {escaped(command.what[0].lower() + command.what[1:].rstrip('.'))}"
    yield from synopsis(command)
    extra = (SECTIONS / f"{name}.man").read_text().rstrip().replace("@EXIT_CODES@", "\n".join(exit_codes()))
    description, _, rest = extra.partition("\n.SH ")
    yield ".SH DESCRIPTION"
    yield description
    if command.commands:
        yield ".SH COMMANDS"
        for each, what in command.commands.items():
            yield from (".TP", rf"\fBgyre\-{each}\fR(1)", sentence(what))
    for each in command.positionals:
        yield from (".SH ARGUMENTS", *described(each))
    for title, options in command.groups.items():
        if title != "Options":
            yield f".SS {title}"
        else:
            yield ".SH OPTIONS"
        for each in options:
            yield from described(each)
    if rest:
        yield ".SH " + rest
    yield ".SH SEE ALSO"
    others = [f"gyre-{each}" for each in ("doctor", "fetch", "load", "proxy", "serve")]
    others = [each for each in ["gyre", *others] if each != name]
    yield ",\n".join(rf"\fB{escaped(each)}\fR(1)" for each in others)


def main():
    program, folder = sys.argv[1], Path(sys.argv[2])
    version = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout.split()[1]
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    now = datetime.datetime.now(datetime.UTC)
    date = datetime.datetime.fromtimestamp(int(seconds), datetime.UTC) if seconds else now
    folder.mkdir(parents=True, exist_ok=True)
    for command in command_help.read(program):
        text = "\n".join(page(command, version, f"{date:%Y-%m-%d}")) + "\n"
        (folder / f"{'-'.join(command.words)}.1").write_text(text)


if __name__ == "__main__":
    main()
