"""Reads the help of `gyre` and of its commands. Manual pages and completions are written from it, so they cannot differ
from what the program accepts."""

import re
import subprocess
from dataclasses import dataclass, field

DESCRIPTION = 30  # the column where descriptions begin
NAMES = re.compile(r"  (?P<names>\S+)(?P<rest>.*)")
# CLI11 writes these behind the names: a type, its rule, the default, and properties.
REST = re.compile(r"(?: (?P<type>TEXT|UINT|FLOAT)(?::(?P<rule>in \[[^]]*\]|\{[^}]*\}|[A-Z]+))?(?:=(?P<default>.*?))?)?"
                  r"(?P<repeated> \.\.\.)?(?P<required> REQUIRED)?(?: \(Env:(?P<variable>\w+)\))?"
                  r"(?: Excludes: .*)?")


@dataclass
class Option:
    """An option or a positional argument."""

    names: list  # "-o", "--output"
    what: str
    type: str = ""  # "" for a flag
    rule: str = ""
    default: str = ""
    variable: str = ""
    repeated: bool = False
    required: bool = False

    @property
    def choices(self):
        return self.rule[1:-1].split(",") if self.rule.startswith("{") else []

    @property
    def placeholder(self):
        """The word for the value in a synopsis: FILE, NUMBER, ... Empty for a flag."""
        if self.rule in ("FILE", "DIR", "SIZE"):
            return self.rule
        return {"": "", "TEXT": "TEXT", "UINT": "NUMBER", "FLOAT": "NUMBER"}[self.type]


@dataclass
class Command:
    words: list  # ["gyre", "serve"]
    what: str
    usage: str
    positionals: list = field(default_factory=list)
    groups: dict = field(default_factory=dict)  # title: options
    commands: dict = field(default_factory=dict)  # name: description

    @property
    def options(self):
        return [option for group in self.groups.values() for option in group]


def entries(lines):
    """(names and properties, description) of each option. A description has a line of its own when the names are
    long."""
    indented = " " * DESCRIPTION
    for line, after in zip(lines, [*lines[1:], ""]):
        if line.startswith(indented):
            continue
        yield (line, after.strip()) if after.startswith(indented) else (line[:DESCRIPTION].rstrip(), line[DESCRIPTION:])


def option_of(head, what):
    found = NAMES.fullmatch(head)
    rest = REST.fullmatch(found["rest"].rstrip())
    if not rest:
        raise SystemExit(f"the help has a form that is not known: {head!r}")
    # "--on,--off{false}": the text in braces is the value of a flag that means the opposite.
    names = re.sub(r"\{\w+\}", "", found["names"]).split(",")
    return Option(names, what, rest["type"] or "", rest["rule"] or "", rest["default"] or "", rest["variable"] or "",
                  bool(rest["repeated"]), bool(rest["required"]))


def parse(words, text):
    what, usage, *lines = text.splitlines()
    command = Command(words, what, usage.removeprefix("Usage: "))
    title, sections = "", {}
    for line in lines:
        if re.fullmatch(r"\S.*:", line):
            title = line[:-1]
        elif line.strip():
            sections.setdefault(title, []).append(line)
    for title, body in sections.items():
        if title == "Subcommands":
            command.commands = dict(line.split(maxsplit=1) for line in body)
        elif title == "Positionals":
            command.positionals = [option_of(*each) for each in entries(body)]
        else:
            command.groups[title] = [option_of(*each) for each in entries(body)]
    return command


def read(program):
    """The program itself, and each of its commands."""
    def ask(*words):
        return subprocess.run([program, *words, "--help"], check=True, stdout=subprocess.PIPE, text=True).stdout

    whole = parse(["gyre"], ask())
    return [whole, *(parse(["gyre", name], ask(name)) for name in sorted(whole.commands))]
