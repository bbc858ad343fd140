"""What rounds in turn say of servers.

A machine whose host is shared changes its speed within seconds, for everybody alike. So two servers are compared
within each round: their ratio is the median over all rounds of the ratio in one, and beside it stands the interval that
holds the true median in 95 of 100 measurements (order statistics: no assumption of how rounds are distributed). No
round is left out.
"""

from math import comb
from statistics import median


def in_turn(candidates, rounds):
    """Each of the candidates once a round; who begins changes, so that nobody always comes after the same one."""
    candidates = list(candidates)
    for number in range(rounds):
        first = number % len(candidates)
        yield from candidates[first:] + candidates[:first]


def interval(values):
    """Returns (low, high): the median of the population lies between these. Below 6 values they are the lowest and the
    highest."""
    ordered, count = sorted(values), len(values)
    outside, below = 0, 0.0  # how many values at each end may go, and how likely the median is beyond them
    while below + comb(count, outside) / 2 ** count <= 0.025:
        below += comb(count, outside) / 2 ** count
        outside += 1
    outside = max(outside - 1, 0)
    return ordered[outside], ordered[count - 1 - outside]


class Ratio:
    """Of two servers' figures, a round each."""

    def __init__(self, figures, base):
        each = [one / other for one, other in zip(figures, base, strict=True)]
        self.value = median(each)
        self.low, self.high = interval(each)

    def __str__(self):
        return f"{self.value:.3f} ({self.low:.3f}-{self.high:.3f})"
