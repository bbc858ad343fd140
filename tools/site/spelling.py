#!/usr/bin/env python3
"""Checks the words of the documents and of the public headers' comments: aspell's British dictionary, and words.txt.

Listings, code in backticks, targets of links and names with an underscore are not words.

    tools/site/spelling.py          fails with the unknown words, and where they are
    tools/site/spelling.py --words  prints only the words: those that are right belong into words.txt"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
WORDS = Path(__file__).resolve().parent / "words.txt"
DOCUMENTS = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "THIRD_PARTY.md",
             "bench/README.md", "bench/articles/README.md"]
NO_WORDS = re.compile(r"^```.*?^```|<!--.*?-->|`[^`\n]*(?:\n[^`\n]*)?`|(?<=\])\([^)]*\)|https?://\S+|\$\{?\w+|"
                      r"\w*[_\d/:@=]\w*(?:[./:_-]+\w+)*|--?[a-z][\w-]*|&\w+;|<[^>\n]*>|"
                      r"\b\w+\.(?:hpp|cpp|md|py|txt|sh)\b",
                      re.M | re.S)
WORD = re.compile(r"[A-Za-z]+(?:['’][a-z]+)?")


def blanked(text):
    """The text with spaces in place of what is no word, so that lines and columns stay."""
    return NO_WORDS.sub(lambda found: re.sub(r"[^\n]", " ", found.group(0)), text)


def comments(text):
    """The lines of a header with only their comments."""
    return "\n".join(found.group(1) if (found := re.search(r"//[/<]*(.*)$", line)) else ""
                     for line in text.split("\n"))


def texts():
    for name in [*DOCUMENTS, *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))]:
        yield name, (ROOT / name).read_text()
    for path in sorted((ROOT / "include").rglob("*.hpp")):
        yield path.relative_to(ROOT).as_posix(), comments(path.read_text())


def unknown(words):
    """Those of the words that neither aspell nor words.txt knows."""
    own = {line.strip() for line in WORDS.read_text().splitlines() if line and not line.startswith("#")}

    def is_own(word):
        base = re.sub(r"['’]s$", "", word)
        forms = {word, base, base.removesuffix("s")}
        return bool(own & {each for form in forms for each in (form, form.lower())})

    rest = sorted(word for word in words if not is_own(word))
    done = subprocess.run(["aspell", "list", "--lang=en_GB", "--encoding=utf-8"], input="\n".join(rest),
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"spelling: {done.stderr.strip()}")
    return set(done.stdout.split())


def main():
    places = {}
    for name, text in texts():
        for number, line in enumerate(blanked(text).split("\n"), 1):
            for word in WORD.findall(line):
                places.setdefault(word, []).append(f"{name}:{number}")
    wrong = unknown(places)
    if sys.argv[1:] == ["--words"]:
        print("\n".join(sorted(wrong, key=str.lower)))
    else:
        print("\n".join(f"{places[word][0]}: {word}" for word in sorted(wrong)) or
              f"spelling: {len(places)} words, all known")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
