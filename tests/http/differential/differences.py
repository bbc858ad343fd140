"""Differences in how gyre and another parser understand the same stream."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """A difference in the request `index` of a stream. `kind` is one of:

    gyre-rejects, peer-rejects      one of the two accepts the request, the other rejects it
    gyre-waits, peer-waits          one of the two accepts the request, the other needs more bytes for it
    gyre-stops, peer-stops          one of the two continues, the other takes the previous request for the last
    method, target, minor, body     both accept the request, but with different values
    fields, trailers
    """

    peer: str
    kind: str
    gyre: str  # gyre's reason, when it rejects the request
    said: str  # the other parser's reason
    stream: bytes
    index: int
    at: int  # where the request begins

    @property
    def request(self):
        return self.stream[self.at:]

    def __str__(self):
        return (f"{self.peer}: {self.kind}, request {self.index}; gyre: {self.gyre!r}, {self.peer}: {self.said!r}\n"
                f"    {self.stream!r}")


def comparable(name, value):
    """Returns what both must have understood: names without case, values without the white space around them."""
    if name in ("fields", "trailers"):
        return [(field.lower(), text.strip(b" \t")) for field, text in value]
    return value


def outcome(verdict, index):
    """The outcome for the request `index`: a request, or how the stream ended before it."""
    if index < len(verdict["requests"]):
        return verdict["requests"][index]
    return verdict["end"]


def compare(peer, gyre, other, stream):
    """Returns the differences up to the first request that the two do not accept in the same way."""
    def found(kind, index):
        at = gyre["requests"][index]["at"] if index < len(gyre["requests"]) else gyre["at"]
        return Difference(peer, kind, gyre["reason"], other["reason"], stream, index, at)

    for index in range(max(len(gyre["requests"]), len(other["requests"]))):
        ours, theirs = outcome(gyre, index), outcome(other, index)
        if isinstance(ours, str) or isinstance(theirs, str):
            side, end = ("gyre", ours) if isinstance(ours, str) else ("peer", theirs)
            kind = {"rejected": "rejects", "more": "waits"}.get(end, "stops")
            return [found(f"{side}-{kind}", index)]
        different = [name for name in ("method", "target", "minor", "body", "fields", "trailers")
                     if comparable(name, ours[name]) != comparable(name, theirs[name])]
        if different:
            return [found(name, index) for name in different]
    return []
