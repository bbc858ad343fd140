"""Where gyre and another parser understand the same stream in different ways."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """Of the request `index` in a stream. `kind` is one of:

    gyre-rejects, peer-rejects      one of the two accepts the request, the other says that it is wrong
    gyre-waits, peer-waits          one of the two accepts the request, the other needs more bytes for it
    gyre-stops, peer-stops          one of the two goes on, the other takes the request before for the last
    method, target, minor, body     both accept it, and each sees another one
    fields, trailers
    """

    peer: str
    kind: str
    gyre: str  # what gyre says, when it rejects
    said: str  # what the other one says
    stream: bytes
    index: int
    at: int  # where the request begins

    @property
    def request(self):
        return self.stream[self.at:]

    def __str__(self):
        return f"{self.peer}: {self.kind}, request {self.index}; gyre: {self.gyre!r}, {self.peer}: {self.said!r}\n    {self.stream!r}"


def comparable(name, value):
    """What both must have understood: names without case, values without the white space around them."""
    if name in ("fields", "trailers"):
        return [(field.lower(), text.strip(b" \t")) for field, text in value]
    return value


def outcome(verdict, index):
    """What became of the request `index`: a request, or how the stream ended before."""
    if index < len(verdict["requests"]):
        return verdict["requests"][index]
    return verdict["end"]


def compare(peer, gyre, other, stream):
    """The differences up to the first request that not both accept in the same way."""
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
