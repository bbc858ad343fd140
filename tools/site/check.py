#!/usr/bin/env python3
"""Checks the site that ./gyre docs has built: every link and anchor leads somewhere in it, nothing is fetched from
another machine, and every public name has its place in the reference. Run by build/site-venv/bin/python."""

import html
import os
import re
import sys
from pathlib import Path
from urllib.parse import unquote

sys.path.insert(0, str(Path(__file__).resolve().parent))

import catalogue  # noqa: E402

SITE = Path(__file__).resolve().parent.parent.parent / "build/site"
ID = re.compile(r'\sid="?([^"\s>]+)')
LINK = re.compile(r'<a\s[^>]*?href="?([^"\s>]+)')
FETCHED = re.compile(r'<(?:script|img|iframe|source)\s[^>]*?src="?([^"\s>]+)|'
                     r'<link\s[^>]*?rel="?(?:stylesheet|icon|preconnect)[^>]*?href="?([^"\s>]+)')


def pages():
    return {path.relative_to(SITE).as_posix(): path.read_text() for path in SITE.rglob("*.html")}


def problem_of_link(link, page, texts, ids):
    """What is wrong with a link, or None."""
    link = html.unescape(link)
    if re.match(r"[a-z]+:", link):
        return None
    target, _, anchor = unquote(link).partition("#")
    path = os.path.normpath(os.path.join(os.path.dirname(page), target)) if target else page
    if target.endswith("/") or target in (".", ".."):
        path = os.path.normpath(os.path.join(path, "index.html"))
    if path not in texts:
        return None if (SITE / path).is_file() else f"{page}: link to {link}, which does not exist"
    if anchor and anchor not in ids[path] and not anchor.startswith("__"):
        return f"{page}: link to {link}, an anchor that does not exist"
    return None


def problems_of_links(texts):
    ids = {page: set(ID.findall(text)) for page, text in texts.items()}
    for page, text in texts.items():
        if page == "404.html":  # its links are those of the root
            continue
        for link in set(LINK.findall(text)):
            problem = problem_of_link(link, page, texts, ids)
            if problem:
                yield problem
        for pair in set(FETCHED.findall(text)):
            target = html.unescape(pair[0] or pair[1])
            if re.match(r"(?:https?:)?//", target):
                yield f"{page}: fetches {target}"
            elif not target.startswith("data:") and \
                    not (SITE / os.path.normpath(os.path.join(os.path.dirname(page), target))).is_file():
                yield f"{page}: fetches {target}, which does not exist"


def problems_of_names(texts):
    known = catalogue.Catalogue()
    for qualified, (page, anchor, _) in known.places.items():
        text = texts.get(page.uri.removesuffix(".md") + ".html", "")
        if f'id="{anchor}"' not in text and f"id={anchor} " not in text:
            yield f"{qualified}: no place in {page.uri}"


def self_test():
    texts = {"a.html": '<a href="b.html#x">', "b.html": '<p id="y">', "c/d.html": '<a href="../a.html">'}
    assert len(list(problems_of_links(texts))) == 1
    assert not list(problems_of_links({**texts, "b.html": '<p id="x">'}))
    assert list(problems_of_links({"a.html": '<script src="https://example.org/x.js">'}))


def main():
    self_test()
    texts = pages()
    problems = [*problems_of_links(texts), *problems_of_names(texts)]
    print("\n".join(problems[:200]) or f"site: {len(texts)} pages, every link leads somewhere")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
