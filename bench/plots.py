#!/usr/bin/env python3
"""Draws the figures of bench/run.py --json as SVG, and puts them into docs/performance.md.

usage: bench/plots.py [FILE.json...] [--page docs/performance.md]

Every figure has its interval, and below it the machine, the method and the load of the machine. The page keeps its
text: only the lines between "<!-- plots: KIND -->" and "<!-- end of plots -->" are replaced. The table of counts is
that of bench/budgets.txt. Needs no packages.
"""

import argparse
import json
import math
import re
import statistics
import textwrap
from html import escape
from pathlib import Path

from rounds import Ratio

ROOT = Path(__file__).resolve().parent.parent
WIDTH, LEFT, RIGHT, ROW, TOP = 760, 150, 190, 26, 46  # pixels: of the names, of the figures, of a row, of the title
STYLE = """text { font: 13px system-ui, sans-serif; fill: #1f2937 } .title { font-size: 15px; font-weight: 600 }
.small { font-size: 11px; fill: #4b5563 } .ours { font-weight: 600 } line { stroke: #9ca3af; stroke-width: 1 }
.grid { stroke: #e5e7eb } .one { stroke: #6b7280; stroke-dasharray: 4 3 } .bar { stroke-width: 2; stroke: #374151 }
.ours.bar { stroke: #0f766e } circle, rect.bar { stroke: none; fill: #374151 }
circle.ours, rect.ours { fill: #0f766e }"""
COUNTED = {"http_hello": 'HTTP "Hello, World!"', "static_file": "a file of 1 KiB over HTTP, `gyre serve`",
           "https_hello": 'HTTPS "Hello, World!"', "client_request": "a request of the HTTP client",
           "proxied_request": "HTTP through `gyre proxy`, with its client side",
           "resp_ping": "PING in the protocol of Redis, with statistics"}


class Point:
    """A figure and its interval."""

    def __init__(self, name, value, low, high, ours):
        self.name, self.value, self.low, self.high, self.ours = name, value, low, high, ours

    def label(self, digits):
        shown = [f"{each:,.{digits}f}" for each in (self.value, self.low, self.high)]
        return shown[0] if shown[1] == shown[2] else f"{shown[0]} ({shown[1]} to {shown[2]})"


def is_ours(name):
    return name.startswith("gyre")


def ratios_to(base, rows):
    """The ratio of each row to one of them, compared within each round."""
    found = [(name, Ratio(rates, rows[base])) for name, rates in rows.items()]
    return [Point(name, each.value, each.low, each.high, is_ours(name))
            for name, each in sorted(found, key=lambda row: -row[1].value)]


def ratios_of(one, rows):
    """The ratio of one row to each other."""
    found = [(name, Ratio(rows[one], rates)) for name, rates in rows.items() if not is_ours(name)]
    return [Point(f"to {name}", each.value, each.low, each.high, False)
            for name, each in sorted(found, key=lambda row: row[1].value)]


def costs(rows):
    found = [(name, statistics.median(figures), min(figures), max(figures)) for name, figures in rows.items()]
    return [Point(*each, is_ours(each[0])) for each in sorted(found, key=lambda row: row[1])]


def step_for(largest):
    """The distance of grid lines: 1, 2 or 5 times a power of ten, for at most six of them."""
    rough = largest / 6
    power = 10 ** math.floor(math.log10(rough))
    return next(power * each for each in (1, 2, 5, 10) if power * each >= rough)


def drawing(title, groups, about, digits):
    """The text of an SVG. `groups`: (heading, points, is_ratio) each, with an axis of its own."""
    parts, y = [], TOP
    for heading, points, is_ratio in groups:
        group, y = group_of(heading, points, is_ratio, y, digits)
        parts += group
    for line in textwrap.wrap(about, 118):
        y += 15
        parts.append(f'<text class="small" x="12" y="{y}">{escape(line)}</text>')
    description = described(groups, digits)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 14}" role="img" '
            f'aria-label="{escape(title)}">\n<title>{escape(title)}</title>\n<desc>{escape(description)}</desc>\n'
            f'<style>{STYLE}</style>\n<rect width="{WIDTH}" height="{y + 14}" rx="6" fill="#ffffff"/>\n'
            f'<text class="title" x="12" y="26">{escape(title)}</text>\n' + "\n".join(parts) + "\n</svg>\n")


def group_of(heading, points, is_ratio, y, digits):
    largest = max(max(point.high for point in points), 1 if is_ratio else 0) * 1.02
    room, step = WIDTH - LEFT - RIGHT, step_for(largest)

    def at(value):
        return LEFT + room * value / largest

    y += 8
    parts = [f'<text class="small" x="12" y="{y}">{escape(heading)}</text>']
    top, bottom = y + 6, y + 6 + ROW * len(points)
    for number in range(math.floor(largest / step) + 1):
        x = at(number * step)
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}"/>')
        parts.append(f'<text class="small" x="{x:.1f}" y="{bottom + 13}" text-anchor="middle">{number * step:g}</text>')
    if is_ratio:
        parts.append(f'<line class="one" x1="{at(1):.1f}" y1="{top}" x2="{at(1):.1f}" y2="{bottom}"/>')
    for number, point in enumerate(points):
        middle = top + ROW * number + ROW / 2
        ours = " ours" if point.ours else ""
        parts.append(f'<text class="{ours.strip()}" x="{LEFT - 10}" y="{middle + 4}" text-anchor="end">'
                     f'{escape(point.name)}</text>')
        if not is_ratio:
            parts.append(f'<rect class="bar{ours}" x="{LEFT}" y="{middle - 6}" width="{at(point.value) - LEFT:.1f}" '
                         f'height="12" rx="2" opacity="0.35"/>')
        parts.append(f'<line class="bar{ours}" x1="{at(point.low):.1f}" y1="{middle}" x2="{at(point.high):.1f}" '
                     f'y2="{middle}"/>')
        parts.append(f'<circle class="{ours.strip()}" cx="{at(point.value):.1f}" cy="{middle}" r="4"/>')
        parts.append(f'<text x="{WIDTH - RIGHT + 12}" y="{middle + 4}">{escape(point.label(digits))}</text>')
    return parts, bottom + 22


def described(groups, digits):
    return "; ".join(f"{heading}: " + ", ".join(f"{point.name} {point.label(digits)}" for point in points)
                     for heading, points, _ in groups)


def about(environment, kind):
    known = environment
    text = (f"{known['date']}, {known['kernel']}, {known['processor']}, {known['cores']} cores, {known['compiler']}, "
            f"commit {known['commit']}. ")
    if kind == "rate":
        return text + (f"{known['rounds']} rounds of {known['seconds']:g} s, servers in turn: median of the ratios "
                       "within each round, and the interval that holds it in 95 of 100 measurements. Load of the "
                       f"machine: {known['load_before']:g} before, {known['load_after']:g} after.")
    return text + "Median of the runs, with the lowest and the highest. Does not depend on the load of the machine."


def draw(table, environment):
    """(text of the SVG, text for readers who do not see it)"""
    rows, kind = table["rows"], table["kind"]
    if kind == "rate":
        base = next(iter(rows))
        groups = [(f"Requests per second, ratio to {base}", ratios_to(base, rows), True)]
        ours = [name for name in rows if is_ours(name)]
        groups += [(f"{name}, ratio to each other server", ratios_of(name, rows), True) for name in ours[:1]]
        digits = 2
    else:
        points = costs(table["rows"])
        groups = [(table["unit"], points, False)]
        digits = 0 if max(point.value for point in points) >= 100 else 3
    return drawing(table["title"], groups, about(environment, kind), digits), described(groups, digits)


def budgets():
    """The counts of bench/budgets.txt as a table."""
    words = (line.split() for line in (ROOT / "bench/budgets.txt").read_text().splitlines() if line[0] != "#")
    counts = {name: float(count) for name, count in words}
    table = ["| one request, one connection | instructions in user space | allocations | system calls, io_uring "
             "| system calls, epoll |", "|---|--:|--:|--:|--:|"]
    for name, title in COUNTED.items():
        cells = [f"{counts[f'{name}.instructions']:,.0f}"]
        cells += [f"{counts[f'{name}.{each}']:g}" for each in ("allocations", "calls_io_uring", "calls_epoll")]
        table.append("| " + " | ".join([title, *cells]) + " |")
    idle = [f"{counts[f'{each}.idle_bytes_io_uring']:,.0f}" for each in ("http", "https", "resp")]
    text = (f"An idle connection that has made one request holds {idle[0]} bytes on the heap with HTTP, {idle[1]} with "
            f"HTTPS, most of which belong to OpenSSL, and {idle[2]} in a server of the protocol of Redis. A task that "
            f"sleeps holds {counts['task.bytes']:.0f} bytes.")
    return ["\n".join(table), textwrap.fill(text, 120)]


def replaced(page, kind, lines):
    pattern = re.compile(rf"(<!-- plots: {kind} -->\n).*?(<!-- end of plots -->)", re.S)
    if not pattern.search(page):
        raise SystemExit(f'bench: the page has no lines "<!-- plots: {kind} -->" and "<!-- end of plots -->"')
    return pattern.sub(lambda found: found[1] + "\n" + "\n\n".join(lines) + "\n\n" + found[2], page)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="what bench/run.py --json has written")
    parser.add_argument("--page", default=str(ROOT / "docs/performance.md"))
    given = parser.parse_args()
    page = Path(given.page)
    folder = page.with_suffix("")
    folder.mkdir(exist_ok=True)
    lines = {"counts": dict(enumerate(budgets()))}
    for run in (json.loads(Path(file).read_text()) for file in given.files):
        for table in run["tables"]:
            if len(next(iter(table["rows"].values()))) < 2:
                print(f"{table['title']}: not drawn: one round has no interval")
                continue
            text, description = draw(table, run["environment"])
            (folder / f"{table['name']}.svg").write_text(text)
            short = f"{table['title']}. {description}"
            image = f"![{short}]({folder.name}/{table['name']}.svg)"
            lines.setdefault(table["kind"], {})[table["name"]] = image  # a later file replaces an earlier one
    text = page.read_text()
    for kind, found in lines.items():
        text = replaced(text, kind, found.values())
    page.write_text(text)


if __name__ == "__main__":
    main()
