"""docs/refactoring.md describes the programs of examples/refactor correctly."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAIRS = {"echo_server_coroutine.cpp": "echo_server_blocking.cpp",
         "echo_client_coroutine.cpp": "echo_client_blocking.cpp",
         "http_server_coroutine.cpp": "http_server_callback.cpp"}


def source(name):
    return (ROOT / "examples/refactor" / name).read_text()


def lines_in_common(before, after):
    """Returns how many lines both have in the same order: the length of their longest common subsequence."""
    longest = [0] * (len(after) + 1)
    for line in before:
        diagonal = 0
        for column, other in enumerate(after, 1):
            above = longest[column]
            longest[column] = diagonal + 1 if line == other else max(above, longest[column - 1])
            diagonal = above
    return longest[-1]


class Page(unittest.TestCase):
    """docs/refactoring.md describes the programs correctly."""

    def setUp(self):
        self.page = (ROOT / "docs/refactoring.md").read_text()

    def test_the_numbers_of_the_table(self):
        rows = re.findall(r"^\| `(\w+\.[ch]pp)` \| (.*) \|$", self.page, re.M)
        there = {file.name for file in (ROOT / "examples/refactor").glob("*.[ch]pp")}
        self.assertEqual({name for name, _ in rows}, there)
        for name, numbers in rows:
            text = source(name)
            lines = text.splitlines()
            unchanged = lines_in_common(source(PAIRS[name]).splitlines(), lines) if name in PAIRS else ""
            patterns = (r"\basync_\w+\(", r"\w+_from_this\b", r"\bstd::thread\b",
                        r"\bstd::(?:mutex|condition_variable|scoped_lock|unique_lock|atomic)\b")
            counted = [len(lines), unchanged, *(len(re.findall(pattern, text)) for pattern in patterns)]
            self.assertEqual(numbers, " | ".join(map(str, counted)), name)

    def test_the_excerpts_are_in_the_programs(self):
        excerpts = re.findall(r"^```diff\n--- (\S+)\n\+\+\+ (\S+)\n(.*?)^```$", self.page, re.M | re.S)
        self.assertEqual({after: before for before, after, _ in excerpts}, PAIRS)
        for before, after, hunks in excerpts:
            for hunk in re.split(r"^@@.*\n", hunks, flags=re.M):
                for name, other in ((before, "+"), (after, "-")):
                    said = "".join(line[1:] + "\n" for line in hunk.splitlines() if not line.startswith(other))
                    self.assertIn(said, source(name), name)


if __name__ == "__main__":
    unittest.main()
