"""Makes links of the public names in the code of pages: in text when the whole piece of code is a name, in listings
when it is qualified, and in the declarations of the reference."""

import re

TAG = re.compile(r"(<[^>]+>)")
NAME = re.compile(r"((?:\w+::)*\w+)(?:&lt;.*&gt;)?(?:\(\))?[&*]*$")
QUALIFIED = re.compile(r'(?:<span class="n\w*">(?:gyre|http|tls|fs|io|testing)</span><span class="o">::</span>)+'
                       r'<span class="n\w*">\w+</span>(?:<span class="o">::</span><span class="n\w*">\w+</span>)*')
TYPE = re.compile(r'<span class="n\w*">(\w+)</span>')
SCOPES = ["gyre", "gyre::http", "gyre::tls", "gyre::fs", "gyre::io", "gyre::testing", "gyre::uring"]
# Words of prose, commands and the standard library that are also names.
NOT_NAMES = {"gyre", "main", "bind", "next", "version", "size", "empty", "value", "error", "fail", "kind", "none"}
# Pages about commands and other libraries, whose words are not names of gyre.
PLAIN = ("guide/fetch", "guide/load", "guide/proxy", "CHANGELOG", "CONTRIBUTING", "bench/", "source/")


class Linker:
    def __init__(self, page, catalogue, files):
        self.page, self.catalogue, self.files = page, catalogue, files
        self.is_reference = page.file.src_uri.startswith("reference/")
        # Where a name may be declared, the nearest scope first.
        own = [found for found in catalogue.pages() if found.uri == page.file.src_uri]
        nearest = (name.scope for found in own for name in found.names if name.scope)
        self.scopes = list(dict.fromkeys([*nearest, *SCOPES]))

    def place(self, name):
        """The place of a name, when only one can be meant."""
        if name.startswith("gyre::"):
            return self.catalogue.places.get(name)
        if name in NOT_NAMES or (len(name) < 4 and "::" not in name):
            return None
        found = [self.catalogue.places.get(f"{scope}::{name}") for scope in self.scopes]
        found = [each for each in found if each is not None]
        unique = len({id(each[0]) for each in found}) == 1 or self.is_reference or \
            (found and f"gyre::{name}" in self.catalogue.places)
        return found[0] if found and unique else None

    def url(self, place):
        page, anchor, _ = place
        target = self.files.get_file_from_path(page.uri)
        return f"{target.url_relative_to(self.page.file)}#{anchor}"

    def link(self, name, shown):
        place = self.place(name)
        if place is None or (self.is_reference and place[0].uri == self.page.file.src_uri and
                             place[2].kind not in ("class", "function", "concept", "type", "enum")):
            return shown
        return f'<a class="name" href="{self.url(place)}">{shown}</a>'

    def listing(self, content):
        """The links in a listing or a declaration."""
        def whole(match):
            name = re.sub(r"<[^>]+>", "", match.group(0))
            while name and self.place(name) is None:
                name = name.rpartition("::")[0]
            return self.link(name, match.group(0)) if "::" in name else match.group(0)

        content = QUALIFIED.sub(whole, content)
        if not self.is_reference:
            return content

        def one(match):
            place = self.place(match.group(1))
            if place is None or place[0].uri == self.page.file.src_uri or place[2].kind == "function":
                return match.group(0)
            return f'<a class="name" href="{self.url(place)}">{match.group(0)}</a>'

        return "".join(part if part.startswith("<a ") else TYPE.sub(one, part)
                       for part in re.split(r"(<a .*?</a>)", content))

    def linked(self, content):
        parts = []
        for piece in re.split(r"(<pre.*?</pre>|<h[1-6].*?</h[1-6]>|<a .*?</a>|<p class=\"place\".*?</p>|"
                              r"<code[^>]*>[^<]*</code>)", content, flags=re.S):
            if piece.startswith("<pre"):
                piece = self.listing(piece)
            elif piece.startswith("<code"):
                begin, text, end = TAG.split(piece)[1:4]
                name = NAME.match(text)
                piece = self.link(name.group(1), piece) if name and "id=" not in begin else piece
            parts.append(piece)
        return "".join(parts)


def linked(content, page, catalogue, files):
    """The HTML of a page with links to the reference."""
    if page.file.src_uri.startswith(PLAIN) or page.file.src_uri == "reference/names.md":
        return content
    content = Linker(page, catalogue, files).linked(content)
    # A narrow cell breaks a qualified name after ::.
    return re.sub(r"<td>.*?</td>", with_breaks, content, flags=re.S)


def with_breaks(cell):
    return re.sub(r"::(?=[^<>\"]*<)", "::<wbr>", cell.group(0))
