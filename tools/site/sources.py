"""Pages that show files of the repository: the public headers, and what documents link to.

They are written after the others, from the page of a template, because they are many and need none of Markdown. Lines
have the anchors of code hosts: #L10."""

import html
import re
from pathlib import Path

import pages

ROOT = Path(__file__).resolve().parent.parent.parent
TEMPLATE = """---
title: "@TITLE@"
hide: [navigation, toc]
search: {exclude: true}
---
# @TITLE@

@CONTENT@
"""
TOKEN = re.compile(r"""(?P<c1>//[^\n]*)|(?P<s>"(?:[^"\\\n]|\\.)*")|(?P<cp>^[ ]*\#[ ]*\w+[^\n]*)|"""
                   r"(?P<k>\b(?:alignas|auto|bool|break|case|catch|char|class|concept|const|constexpr|continue|"
                   r"co_await|co_return|co_yield|default|delete|do|double|else|enum|explicit|false|final|for|friend|if|"
                   r"inline|int|mutable|namespace|new|noexcept|nullptr|operator|override|private|protected|public|"
                   r"requires|return|sizeof|static|struct|switch|template|this|throw|true|try|typename|union|unsigned|"
                   r"using|virtual|void|volatile|while)\b)", re.M)


def page_of(path):
    """All lie in one folder, so that one template fits all."""
    return f"source/{path.replace('/', '.')}.html"


def listed(folder):
    """What a folder of the repository contains."""
    return sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / folder).iterdir()
                  if path.name != "__pycache__" and not path.name.startswith("."))


def linked_from(texts):
    """The paths that need a page. `texts` are documents by their paths."""
    paths = {path.relative_to(ROOT).as_posix() for path in (ROOT / "include").rglob("*.hpp")}
    for name, text in texts.items():
        paths |= pages.links_of(text, name)
    for path in [path for path in paths if (ROOT / path).is_dir()]:
        paths |= {inner for inner in listed(path) if (ROOT / inner).is_file()}
    return sorted(path for path in paths if not pages.is_page(path) and not pages.is_asset(path))


def coloured(text):
    parts, end = [], 0
    for token in TOKEN.finditer(text):
        parts += [html.escape(text[end:token.start()], quote=False),
                  f'<span class="{token.lastgroup}">{html.escape(token.group(0), quote=False)}</span>']
        end = token.end()
    return "".join([*parts, html.escape(text[end:], quote=False)])


def file_content(path):
    text = (ROOT / path).read_text(errors="replace")
    shown = coloured(text) if path.endswith((".cpp", ".hpp")) else html.escape(text, quote=False)
    lines = "\n".join(f'<a id="L{number}" href="#L{number}" aria-label="line {number}"></a>{line}'
                      for number, line in enumerate(shown.rstrip("\n").split("\n"), 1))
    return f'<div class="highlight source"><pre tabindex="0"><code>{lines}\n</code></pre></div>'


def folder_content(path, known):
    items = []
    for name in listed(path):
        shown = html.escape(name)
        page = page_of(name).split("/")[1]
        items.append(f'<li><a href="{page}"><code>{shown}</code></a></li>' if name in known else
                     f"<li><code>{shown}</code></li>")
    return f"<ul>{''.join(items)}</ul>"


def write(site, paths):
    template = (site / "source/index.html").read_text()
    (site / "source/index.html").unlink()
    known = set(paths)
    for path in paths:
        content = folder_content(path, known) if (ROOT / path).is_dir() else file_content(path)
        page = template.replace("<p>@CONTENT@</p>", content).replace("@TITLE@", html.escape(path))
        (site / page_of(path)).write_text(page)
