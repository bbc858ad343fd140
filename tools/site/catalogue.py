"""Which public name is on which page of the reference: see reference.toml."""

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import headers

ROOT = Path(__file__).resolve().parent.parent.parent
AUTHORS = re.compile(r"For (?:authors|the implementation|servers of files|asio|boost_asio)")
# What an awaitable has for the compiler and the loop, not for programs.
PROTOCOL = re.compile(r"^(?:await_\w+|start|on_\w+|take_result|try_now|gyre_\w+|promise_type|ignores_cancel|"
                      r"get_\w+_object|describe|cancel_leaf|\w+_tag)$")


@dataclass
class Page:
    group: str
    headers: list  # tasks/task_group.hpp
    names: list = field(default_factory=list)

    @property
    def stem(self):
        return self.headers[0].rsplit("/", 1)[-1].removesuffix(".hpp")

    @property
    def uri(self):
        return f"reference/{self.group}/{self.stem}.md"

    @property
    def summary(self):
        return summary_of(self.headers[0])

    @property
    def title(self):
        """The name after which the header is called, with its namespace when that is not gyre."""
        for name in self.names:
            if name.name == self.stem:
                return name.qualified.removeprefix("gyre::")
        return self.stem


@dataclass
class Group:
    name: str
    title: str
    text: str
    pages: list = field(default_factory=list)


def summary_of(header):
    """The sentence of the header's first comment."""
    lines = (ROOT / "include/gyre" / header).read_text().split("\n")
    text = lines[0].split(": ", 1)[1]
    for line in lines[1:]:
        if not line.startswith("// "):
            break
        text += " " + line[3:]
    return text[:1].upper() + text[1:]


def group_of(header, settings):
    stem, layer = header.removesuffix(".hpp"), header.split("/")[0]
    for group in settings:
        if stem in group.get("headers", []):
            return group["name"]
    if AUTHORS.search(summary_of(header)):
        return "authors"
    for group in settings:
        if layer in group.get("layers", []):
            return group["name"]
    return "authors"


def is_machinery(name):
    """Whether programs have no reason to write the name."""
    if name.name.endswith(("_op", "_base", "_state")):
        return True
    if name.comment or name.kind == "enum":
        return False
    return not any(each.kind == "field" and (each.comment or each.default) for each in name.members)


class Catalogue:
    def __init__(self):
        settings = tomllib.loads((Path(__file__).parent / "reference.toml").read_text())
        first = {f"{each}.hpp": f"{group[0]}.hpp" for group in settings["together"] for each in group}
        order = [f"{each}.hpp" for group in settings["group"] for each in group.get("headers", [])]
        self.groups = {each["name"]: Group(each["name"], each["title"], each["text"]) for each in settings["group"]}
        self.names = headers.read()
        pages = {}
        for name in self.names:
            main = first.get(name.header, name.header)
            if main not in pages:
                pages[main] = Page(group_of(main, settings["group"]), [main])
            if name.header not in pages[main].headers:
                pages[main].headers.append(name.header)
            pages[main].names.append(name)
        for main, page in pages.items():
            self.groups[page.group].pages.append(page)
            page.headers.sort(key=lambda header: list(first).index(header) if header in first else 0)
            page.names.sort(key=lambda name: (page.headers.index(name.header), name.line))
        for group in self.groups.values():
            group.pages.sort(key=lambda page: (order.index(page.headers[0]) if page.headers[0] in order else len(order),
                                               page.stem))
            stems = [page.stem for page in group.pages]
            assert len(set(stems)) == len(stems), f"two pages of the group {group.name} have one name: {stems}"
        self.places = {}  # qualified name: (page, anchor)
        for page in pages.values():
            for name in page.names:
                self.place(page, name, name.name)

    def place(self, page, name, anchor):
        anchor = anchor_of(anchor)
        self.places.setdefault(name.qualified.removeprefix("::"), (page, anchor, name))
        for member in [] if PROTOCOL.match(name.name) else name.members:
            self.place(page, member, f"{anchor}.{member.name}")

    def pages(self):
        return [page for group in self.groups.values() for page in group.pages]

    def find(self, name, scope):
        """The place of a name as it is written inside of a scope, or None."""
        while scope:
            if f"{scope}::{name}" in self.places:
                return self.places[f"{scope}::{name}"]
            scope = scope.rpartition("::")[0]
        return self.places.get(name)


def anchor_of(text):
    """An anchor for a name, such as task_group.spawn or task.operator-2a."""
    return re.sub(r"[^\w.\-]", lambda found: f"-{ord(found.group(0)):x}", text)
