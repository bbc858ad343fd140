"""A table whose ratios come first, printed, and drawn as a picture."""

from statistics import median
from xml.sax.saxutils import escape

from rounds import Ratio


class Table:
    """Rows with a name and the figures of each round, of which higher is better. The first row is what the others are
    compared with; beside each stands how ours compare with it."""

    def __init__(self, title, unit):
        self.title, self.unit = title, unit
        # (name, figures, published figure or None, microseconds of processor time for one, sleeps for a thousand)
        self.rows = []

    def add(self, name, figures, published, cost, sleeps=0):
        self.rows.append((name, figures, published, cost, sleeps))

    def ratios(self):
        """Of each row to the first: (measured, published), the latter None where there is nothing to compare."""
        base, base_published = self.rows[0][1:3]
        return [(Ratio(figures, base), published / base_published if published and base_published else None)
                for _, figures, published, *_ in self.rows]

    def print(self):
        ours = {name: figures for name, figures, *_ in self.rows if name.startswith("gyre")}
        print(f"\n{self.title}\n{'':34}{'ratio':>24}{'published':>11}{self.unit:>14}"
              f"{'server us each':>16}{'sleeps/1000':>13}" +
              "".join(f"{name + ' to it':>36}" for name in ours))
        for (name, figures, _, cost, sleeps), (ratio, published) in zip(self.rows, self.ratios()):
            theirs = f"{published:.2f}" if published is not None else ""
            print(f"{name:34}{str(ratio):>24}{theirs:>11}{median(figures):>14,.0f}{cost:>16.3f}{sleeps:>13.1f}" +
                  "".join(f"{str(Ratio(each, figures)) if each is not figures else '':>36}" for each in ours.values()),
                  flush=True)

    def draw(self, path):
        """Bars, in a picture that needs no program to be made."""
        bar, gap, left, width = 22, 8, 260, 420
        most = max(median(figures) for _, figures, *_ in self.rows)
        height = 40 + len(self.rows) * (bar + gap)
        lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 150}" height="{height}" '
                 'font-family="sans-serif" font-size="13">',
                 f'<rect width="100%" height="100%" fill="white"/>',
                 f'<text x="10" y="20" font-weight="bold">{escape(self.title)}, {escape(self.unit)}</text>']
        for i, ((name, figures, *_), (ratio, _)) in enumerate(zip(self.rows, self.ratios())):
            figure = median(figures)
            top = 34 + i * (bar + gap)
            colour = "#2a6fbb" if name.startswith("gyre") else "#9aa5b1"
            length = max(1, round(figure / most * width))
            lines += [f'<text x="{left - 8}" y="{top + 15}" text-anchor="end">{escape(name)}</text>',
                      f'<rect x="{left}" y="{top}" width="{length}" height="{bar}" fill="{colour}"/>',
                      f'<text x="{left + length + 6}" y="{top + 15}">{ratio.value:.2f} × ({figure:,.0f})</text>']
        path.write_text("\n".join([*lines, "</svg>", ""]))
        print(f"picture: {path}")
