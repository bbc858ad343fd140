"""The chapters of docs/guide/installing.md and ten-minutes.md that the test follows, and the programs of the README.

A chapter begins with a comment that readers do not see, <!-- packages: NAME -->, and ends at the next heading. Its
fences are a `sh` script, a `cmake` text for CMakeLists.txt, or the text of the file that <!-- file: NAME --> names."""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import check_docs  # noqa: E402

CHAPTER = re.compile(r"^<!-- packages: (\S+) -->\n(.*?)(?=^#|\Z)", re.M | re.S)
BLOCK = re.compile(r"(?:^<!-- file: (\S+) -->\n)?^```(\w+)\n(.*?)^```$", re.M | re.S)


@dataclass
class block:
    file: str | None  # None: a script
    text: str


def chapters(text):
    """The blocks of each chapter, in their order."""
    found = {}
    for name, body in CHAPTER.findall(without_fenced_headings(text)):
        found[name] = [block(file or (None if language == "sh" else "CMakeLists.txt"), code.replace("\0", "#"))
                       for file, language, code in BLOCK.findall(body)]
    return found


def without_fenced_headings(text):
    """The text, with each # inside a fence as \\0: it begins a comment there, and no heading."""
    return re.sub(r"^```.*?^```$", lambda fence: fence.group(0).replace("#", "\0"), text, flags=re.M | re.S)


@dataclass
class program:
    name: str
    code: str
    port: int
    check: str  # command => output

    def on(self, port):
        """The code and the check with another port."""
        return [text.replace(str(self.port), str(port)) for text in (self.code, self.check)]


def programs_of_readme():
    """echo and hello, the first two servers of the README."""
    fences = check_docs.fences((ROOT / "README.md").read_text())
    servers = [(code, check) for _, _, code, _, check, *_ in fences if check]
    assert len(servers) >= 2, "README.md has no longer two servers with a check"
    return [program(name, code, int(re.search(r"127\.0\.0\.1:(\d+)", code)[1]), check)
            for name, (code, check) in zip(("echo", "hello"), servers)]


INSTALLING = chapters((ROOT / "docs/guide/installing.md").read_text())
TEN_MINUTES = chapters((ROOT / "docs/guide/ten-minutes.md").read_text())
PROGRAMS = programs_of_readme()
