"""Which file of the repository is which page of the site, and the links between them.

Files below docs/ keep their names, without docs/. The documents outside of it keep their paths. A link to any other
file of the repository leads to a page that shows the file: see sources.py."""

import os
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
OUTSIDE = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "THIRD_PARTY.md",
           "bench/README.md", "bench/articles/README.md"]
# A README is the front page of its section of the navigation; these two are pages beside others.
RENAMED = {"bench/README.md": "bench/benchmarks.md", "bench/articles/README.md": "bench/articles/articles.md"}
FENCE = re.compile(r"^```.*?^```[ ]*$", re.M | re.S)
LINK = re.compile(r"(?<=\]\()([^)#:\s]+)(?=(?:#[^)\s]*)?\))")


def anchor(heading, _separator="-"):
    """The anchor of a heading, as code hosts make it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def without_comments(markdown):
    """The comments beside listings are for tools/check_docs.py."""
    return re.sub(r"^<!--.*?-->[ ]*\n?", "", markdown, flags=re.M | re.S)


def page_of(name):
    """The page that shows a document of the repository."""
    return RENAMED.get(name, name.removeprefix("docs/"))


def file_of(page):
    """The path of a page's document in the repository, which its links are relative to."""
    name = next((name for name, renamed in RENAMED.items() if renamed == page), page)
    return name if name in OUTSIDE else f"docs/{page}"


def outside_of_listings(markdown, change):
    """The text with `change` applied to all of it but the listings."""
    parts, end = [], 0
    for fence in FENCE.finditer(markdown):
        parts += [change(markdown[end:fence.start()]), fence.group(0)]
        end = fence.end()
    return "".join([*parts, change(markdown[end:])])


def target_of(link, name):
    """The path in the repository to which a link in the document `name` leads, or None when there is no such path."""
    path = os.path.normpath(os.path.join(os.path.dirname(name), link))
    return path if not path.startswith("..") and (ROOT / path).exists() else None


def links_of(markdown, name):
    found = []
    outside_of_listings(without_comments(markdown), lambda text: found.extend(LINK.findall(text)) or text)
    return {path for path in (target_of(link, name) for link in found) if path is not None}


def is_page(path):
    return path in OUTSIDE or (path.startswith("docs/") and path.endswith(".md")) or path == "docs/decisions"


def is_asset(path):
    return path.startswith("docs/") and not (ROOT / path).is_dir() or path.endswith((".svg", ".png"))


def linked_images(texts):
    """The images outside of docs/ that documents show."""
    paths = set().union(*(links_of(text, name) for name, text in texts.items()))
    return sorted(path for path in paths if path.endswith((".svg", ".png")) and not path.startswith("docs/"))


def with_links_of_site(markdown, page):
    """The text of a page with links that lead to pages of the site."""
    import sources

    def relative(match):
        path = target_of(match.group(1), file_of(page))
        if path is None:
            return match.group(0)
        if path == "docs/decisions":
            path = "docs/decisions/README.md"
        target = page_of(path) if is_page(path) or is_asset(path) else sources.page_of(path)
        return os.path.relpath(target, os.path.dirname(page) or ".")

    return outside_of_listings(markdown, lambda text: LINK.sub(relative, text))


def list_of_decisions(folder):
    """The page that a link to the folder of decisions leads to."""
    lines = ["# Decisions", "", "Each page answers one question, with the measurements behind the answer.", ""]
    for file in sorted(folder.glob("0*.md")):
        title = file.read_text().splitlines()[0].lstrip("# ")
        lines.append(f"* {file.name[:4]}: [{title}]({file.name})")
    return "\n".join(lines) + "\n"
