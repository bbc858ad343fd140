"""Curves over a parameter, printed as a table, ratio first, and drawn as a picture with a logarithmic scale."""

from math import ceil, floor, log10
from statistics import median
from xml.sax.saxutils import escape

from rounds import Ratio

COLOURS = {"gyre, io_uring": "#2a6fbb", "gyre, epoll": "#7fb0e0", "gyre, io_uring, busy poll": "#5b3d99"}
OTHERS = ("#b5532d", "#8a9a5b", "#9aa5b1")


class Curves:
    """Figures of which higher is better. The ratio is the last curve's to the first's."""

    def __init__(self, title, unit, parameter, names):
        self.title, self.unit, self.parameter, self.names = title, unit, parameter, names
        self.rows = []  # (value of the parameter, figure of each name)
        print(f"\n{title}, {unit}; ratio: {names[-1]} to {names[0]}\n{parameter:>10}{'ratio':>28}" +
              "".join(f"{name:>36}" for name in names))

    def add(self, value, figures):
        """`figures`: of each name, a list with one for each round."""
        middle = [median(each) for each in figures]
        self.rows.append((value, middle))
        print(f"{value:>10}{str(Ratio(figures[-1], figures[0])):>28}" + "".join(f"{each:>36,.0f}" for each in middle),
              flush=True)

    def draw(self, path):
        left, top, width, height = 80, 60, 560, 260
        every = [each for _, figures in self.rows for each in figures]
        low, high = floor(log10(min(every))), ceil(log10(max(every)))
        x = [left + width * i / max(1, len(self.rows) - 1) for i in range(len(self.rows))]

        def y(figure):
            return top + height - height * (log10(figure) - low) / max(1, high - low)

        lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 40}" height="{top + height + 50}" '
                 'font-family="sans-serif" font-size="13">',
                 '<rect width="100%" height="100%" fill="white"/>',
                 f'<text x="10" y="20" font-weight="bold">{escape(self.title)}, {escape(self.unit)}</text>']
        for power in range(low, high + 1):
            at = y(10 ** power)
            lines += [f'<line x1="{left}" x2="{left + width}" y1="{at:.0f}" y2="{at:.0f}" stroke="#dddddd"/>',
                      f'<text x="{left - 8}" y="{at + 5:.0f}" text-anchor="end">{10 ** power:,}</text>']
        for at, (value, _) in zip(x, self.rows):
            lines.append(f'<text x="{at:.0f}" y="{top + height + 20}" text-anchor="middle">{escape(str(value))}</text>')
        lines.append(f'<text x="{left + width / 2:.0f}" y="{top + height + 42}" text-anchor="middle">'
                     f'{escape(self.parameter)}</text>')
        others, key = iter(OTHERS), 10
        for i, name in enumerate(self.names):
            colour = COLOURS.get(name) or next(others)
            points = " ".join(f"{at:.0f},{y(figures[i]):.1f}" for at, (_, figures) in zip(x, self.rows))
            lines += [f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"/>',
                      f'<rect x="{key:.0f}" y="33" width="14" height="4" fill="{colour}"/>',
                      f'<text x="{key + 18:.0f}" y="40">{escape(name)}</text>']
            key += 30 + 6.2 * len(name)
        path.write_text("\n".join([*lines, "</svg>", ""]))
        print(f"picture: {path}")
