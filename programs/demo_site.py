"""Makes the pages that the demo serves: the repository's own documents as HTML, and an index that says what was
built."""

import html
import re
from pathlib import Path

STYLE = """
:root{color-scheme:light dark}
body{font:17px/1.6 system-ui,sans-serif;max-width:46rem;margin:0 auto;padding:1rem}
pre{overflow-x:auto;padding:.8rem;border-radius:.4rem;background:color-mix(in srgb,currentColor 8%,transparent);
font-size:.85em}
code{font-family:ui-monospace,monospace;font-size:.92em}
table{border-collapse:collapse;display:block;overflow-x:auto}
td,th{padding:.3rem .6rem;text-align:left;vertical-align:top;
border-bottom:1px solid color-mix(in srgb,currentColor 15%,transparent)}
nav{margin-bottom:1.5rem}
"""


def inline(text):
    """Code, links and emphasis inside of a line."""
    codes = []

    def keep(match):
        codes.append(f"<code>{html.escape(match.group(1))}</code>")
        return f"\0{len(codes) - 1}\0"

    text = html.escape(re.sub(r"`([^`]+)`", keep, text), quote=False)
    text = re.sub(r"\[([^\]]+)\]\(([^)\s]+?)(\.md)?(#[^)]*)?\)",
                  lambda m: f'<a href="{m.group(2)}{".html" if m.group(3) else ""}{m.group(4) or ""}">{m.group(1)}</a>',
                  text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", text)
    text = re.sub(r"(?<![\w*])\*([^*\s][^*]*)\*", r"<i>\1</i>", text)
    return re.sub(r"\0(\d+)\0", lambda m: codes[int(m.group(1))], text)


def table(rows):
    cells = [[inline(cell.strip()) for cell in re.split(r"(?<!\\)\|", row.strip().strip("|"))] for row in rows]
    out = "".join(f"<th>{cell}</th>" for cell in cells[0])
    out = f"<tr>{out}</tr>" if any(cells[0]) else ""
    for row in cells[2:]:
        out += "<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>\n"
    return f"<table>{out}</table>".replace("\\|", "|")


def block(lines):
    """A paragraph, a heading, a list or a table."""
    first = lines[0]
    if heading := re.match(r"(#+) (.*)", first):
        level = len(heading.group(1))
        rest = block(lines[1:]) if lines[1:] else ""
        anchor = re.sub(r"[^\w\- ]", "", heading.group(2).lower()).replace(" ", "-")  # as code hosts make it
        return f'<h{level} id="{anchor}">{inline(heading.group(2))}</h{level}>\n{rest}'
    if first.startswith("|"):
        return table(lines)
    if re.match(r"\s*([*-]|\d+\.) ", first):
        items = re.split(r"\n\s*(?:[*-]|\d+\.) ", "\n" + "\n".join(lines))[1:]
        return "<ul>" + "".join(f"<li>{inline(item)}</li>\n" for item in items) + "</ul>"
    return f"<p>{inline(' '.join(lines))}</p>"


def to_html(markdown, title, home):
    """The small part of Markdown that these documents use."""
    parts = []
    for number, piece in enumerate(re.split(r"^```\w*[^\n]*\n(.*?)^```\s*$", markdown, flags=re.M | re.S)):
        if number % 2:
            parts.append(f"<pre><code>{html.escape(piece)}</code></pre>")
            continue
        for paragraph in re.split(r"\n\s*\n", piece):
            lines = [line for line in paragraph.strip("\n").split("\n") if line.strip()]
            if lines:
                parts.append(block(lines))
    body = "\n".join(parts)
    return (f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
            f'content="width=device-width, initial-scale=1"><title>{html.escape(title)}</title>'
            f'<style>{STYLE}</style></head>'
            f'<body><nav><a href="{home}">gyre</a></nav>\n{body}\n</body></html>\n')


def without_comments(markdown):
    return re.sub(r"^<!--.*?-->\n", "", markdown, flags=re.M | re.S)


def build(root, target):
    """Writes the pages below `target`; gives their number."""
    sources = [root / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md",
                                        "bench/README.md")]
    sources += sorted((root / "docs").rglob("*.md"))
    for source in sources:
        place = source.relative_to(root)
        is_index = place.name == "README.md" and len(place.parts) == 1
        page = target / ("index.html" if is_index else place.with_suffix(".html"))
        page.parent.mkdir(parents=True, exist_ok=True)
        depth = len(page.relative_to(target).parts) - 1
        text = without_comments(source.read_text())
        page.write_text(to_html(text, f"gyre: {place.stem}", "../" * depth or "./"))
    (target / "LICENSE").write_bytes((root / "LICENSE").read_bytes())
    return len(sources)
