"""Writes the pages of the reference as Markdown."""

import os
import re

import contracts
import sources
from catalogue import PROTOCOL, anchor_of, is_machinery

OPTIONS = re.compile(r"_(?:options|limits|timeouts|policy|credentials)$|^set_cookie$")
TARGETS = {"client": "gyre::client", "tls": "gyre::tls"}


def code(text):
    return f"```cpp\n{text}\n```"


def runs(names):
    """Declarations that belong together: of one name, or without comments below each other."""
    result = []
    for name in names:
        last = result[-1] if result else None
        if last and (last[0].name == name.name or (not name.comment and not last[-1].comment and
                                                   name.kind != "class" and last[0].kind != "class")):
            last.append(name)
        else:
            result.append([name])
    return result


class Writer:
    def __init__(self, catalogue, page):
        self.catalogue, self.page = catalogue, page
        self.anchors = set()

    def link(self, target, anchor=""):
        path = os.path.relpath(target, os.path.dirname(self.page.uri))
        return f"{path}#{anchor}" if anchor else path

    def source(self, name):
        path = self.link(sources.page_of(f"include/gyre/{name.header}"), f"L{name.line}")
        return f"[{name.header.rsplit('/', 1)[-1]}:{name.line}]({path})"

    def anchor(self, text):
        """An anchor that the page does not have yet, or None."""
        text = anchor_of(text)
        if text in self.anchors:
            return None
        self.anchors.add(text)
        return text

    def heading(self, level, names, prefix):
        """A heading for one or several names, each with its anchor."""
        unique = list(dict.fromkeys(name.name for name in names))
        anchors = [self.anchor(f"{prefix}{each}") for each in unique]
        shown = ", ".join(f"`{each}`" for each in unique)
        more = "".join(f'<a id="{anchor}"></a>' for anchor in anchors[1:] if anchor)
        identity = f" {{ #{anchors[0]} }}" if anchors[0] else ""
        return f"{'#' * level} {shown}{identity}\n\n{more}".rstrip()

    def declarations(self, names):
        """The texts and contracts of overloads. A contract holds for the overloads directly below its own, too."""
        blocks = []
        for name in names:
            text = name.text + (";" if name.kind != "macro" else "")
            if blocks and not name.comment and (name.follows or not blocks[-1][1]):
                blocks[-1][0].append(text)
            else:
                blocks.append(([text], contracts.to_markdown(name.comment) if name.comment else ""))
        return "\n\n".join("\n\n".join(filter(None, [code("\n".join(texts)), contract]))
                           for texts, contract in blocks)

    def fields(self, owner, prefix):
        rows = ["| name | type | default | meaning |", "|---|---|---|---|"]
        for field in owner.members:
            if field.kind != "field":
                continue
            kind = re.sub(r"\s+", " ", re.sub(r"^(?:mutable|static|inline|constexpr) ", "", field.type))
            kind = kind.replace("|", "\\|")
            default = field.default.replace("|", "\\|")
            default = "" if default in ("", "{}") else f"`{default}`"
            meaning = contracts.to_cell(field.comment) if field.comment else ""
            identity = self.anchor(f"{prefix}{field.name}")
            identity = f"{{ #{identity} }}" if identity else ""
            rows.append(f"| `{field.name}`{identity} | `{kind}` | {default} | {meaning} |")
        return '<div class="fields" markdown>\n\n' + "\n".join(rows) + "\n\n</div>" if len(rows) > 2 else ""

    def values(self, owner, prefix):
        rows = ["| value | meaning |", "|---|---|"]
        for value in owner.members:
            identity = self.anchor(f"{prefix}{value.name}")
            meaning = contracts.to_cell(value.comment) if value.comment else ""
            rows.append(f"| `{value.name}`{{ #{identity} }} | {meaning} |")
        return "\n".join(rows)

    def inherited(self, owner):
        lines = []
        for base in owner.bases:
            bare = re.sub(r"<.*", "", base).removeprefix("typename ")
            place = self.catalogue.find(bare, owner.scope)
            if place is None or place[2] is owner:
                continue
            page, anchor, found = place
            names = [member.name for member in found.members if member.kind in ("function", "field") and
                     member.name != found.name and not PROTOCOL.match(member.name)]
            shown = ", ".join(f"[`{each}`]({self.link(page.uri, f'{anchor}.{anchor_of(each)}')})"
                              for each in dict.fromkeys(names) if f"{found.qualified}::{each}" in self.catalogue.places)
            lines.append(f"Inherits [`{bare}`]({self.link(page.uri, anchor)})" + (f": {shown}." if shown else "."))
        return "\n\n".join(lines)

    def members(self, owner, level, prefix):
        """The members of a class but its fields. Types in it follow the functions."""
        public = [each for each in owner.members if each.kind not in ("field", "value")]
        protocol = [each for each in public if PROTOCOL.match(each.name) and not each.comment]
        types = [each for each in public if each.kind in ("class", "enum") and each not in protocol]
        parts = []
        functions = [each for each in public if each not in protocol and each not in types]
        for run in runs(sum(by_name(functions), [])):
            parts += [self.heading(level, run, prefix), self.declarations(run)]
        for each in types:
            parts.append(self.section([each], level, prefix))
        if protocol:
            names = [self.anchor(f"{prefix}{each.name}") for each in protocol]
            parts.append("".join(f'<a id="{name}"></a>' for name in names if name))
            parts.append("For the loop and the compiler:\n\n" + code("\n".join(f"{each.text};" for each in protocol)))
        return "\n\n".join(parts)

    def section(self, names, level, prefix=""):
        """One name, with all of its declarations."""
        first = names[0]
        parts = [self.heading(level, names, prefix)]
        parts.append(f'<p class="place" markdown>`{first.qualified.removeprefix("::")}` · {self.source(first)}</p>')
        if first.kind not in ("class", "enum"):
            return "\n\n".join([*parts, self.declarations(names)])
        inner = f"{prefix}{first.name}."
        for name in names:
            parts += [code(f"{name.text};"), contracts.to_markdown(name.comment), self.inherited(name)]
            parts.append(self.values(name, inner) if name.kind == "enum" else self.fields(name, inner))
            if name.kind == "class":
                parts.append(self.members(name, min(level + 1, 4), inner))
        return "\n\n".join(part for part in parts if part)

    def text(self):
        page = self.page
        layer = page.headers[0].split("/")[0]
        boost = 0.5 if page.group == "authors" else 3
        lines = ["---", f"title: \"{page.title}\"", f"search: {{boost: {boost}}}", "---", f"# {page.title}", "",
                 page.summary, ""]
        includes = "\n".join(f"#include <gyre/{header}>" for header in page.headers)
        lines += [code(includes), "", f"CMake: `target_link_libraries(program PRIVATE "
                  f"{TARGETS.get(layer, 'gyre::gyre')})`", ""]
        names = sorted(page.names, key=lambda name: name.name != page.stem)
        plain = {name.qualified for name in names if not is_machinery(name) or name.name == page.stem}
        shown = [name for name in names if name.qualified in plain]
        behind = [name for name in names if name.qualified not in plain]
        for run in by_name(shown):
            lines += [self.section(run, 2), ""]
        if behind and shown:
            lines += ["## Behind these names", "", "Types that programs seldom name: results to be awaited, and "
                      "parts of the implementation that must be visible.", ""]
        for run in by_name(behind):
            lines += [self.section(run, 3 if shown else 2), ""]
        return "\n".join(lines)


def by_name(names):
    """The declarations of each name, in the order of the names' first ones."""
    found = {}
    for name in names:
        found.setdefault((name.qualified, name.kind in ("class", "enum")), []).append(name)
    return list(found.values())


def group_page(group):
    lines = ["---", "search: {boost: 0.5}", "---", f"# {group.title}", "", group.text, "", "| page | content |",
             "|---|---|"]
    for page in group.pages:
        lines.append(f"| [`{page.title}`]({page.stem}.md) | {contracts.escaped(page.summary)} |")
    return "\n".join(lines) + "\n"


def start_page(groups):
    lines = ["---", "search: {boost: 0.5}", "---", "# Reference", "",
             "Every public name, with its contract, generated from the headers. [All names](names.md) are listed in "
             "the order of the alphabet, and [all options](options.md) by purpose.", ""]
    lines += [f"* [{group.title}]({group.name}/README.md): {group.text}" for group in groups]
    lines += ["", "Contracts have labels. **Thread** says from which threads something may be called; without it, "
              "only from the thread of its loop. **Lifetime** says what must outlive what. **Cancel** says what a "
              "cancelled operation has done. **Errors** says what is thrown, or returned by `as_expected`. "
              "**Overlap** says which operations may be in flight together. **Units** says what a number counts."]
    return "\n".join(lines) + "\n"


def names_page(catalogue):
    lines = ["---", "search: {exclude: true}", "hide: [toc]", "---", "# All names", ""]
    top = {name.qualified.removeprefix("::") for name in catalogue.names}
    for qualified in sorted(top, key=lambda text: text.rpartition("::")[2]):
        page, anchor, name = catalogue.places[qualified]
        lines.append(f"* [`{qualified}`]({page.uri.removeprefix('reference/')}#{anchor}) "
                     f"({name.kind}, {catalogue.groups[page.group].title})")
    return "\n".join(lines) + "\n"


def options_page(catalogue):
    lines = ["---", "search: {boost: 0.5}", "hide: [toc]", "---", "# All options", "",
             "Every struct of options, limits and policies, with its names, types and defaults.", "",
             '<div class="fields" markdown>', "", "| options | of | names |", "|---|---|---|"]
    for page in catalogue.pages():
        path = page.uri.removeprefix("reference/")
        for name in page.names:
            fields = [f"[`{each.name}`]({path}#{name.name}.{each.name})" for each in name.members
                      if each.kind == "field"]
            if OPTIONS.search(name.name) and fields:
                link = f"[`{name.qualified.removeprefix('gyre::')}`]({path}#{name.name})"
                lines.append(f"| {link} | {contracts.escaped(page.summary)} | {', '.join(fields)} |")
    return "\n".join([*lines, "", "</div>"]) + "\n"


def pages_of(catalogue):
    """The text of each page by its name."""
    groups = [group for group in catalogue.groups.values() if group.pages]
    result = {"reference/README.md": start_page(groups), "reference/names.md": names_page(catalogue),
              "reference/options.md": options_page(catalogue)}
    for group in groups:
        result[f"reference/{group.name}/README.md"] = group_page(group)
        for page in group.pages:
            result[page.uri] = Writer(catalogue, page).text()
    return result


def navigation(catalogue):
    result = ["reference/README.md"]
    for group in catalogue.groups.values():
        result.append({group.title: [f"reference/{group.name}/README.md",
                                     *({page.stem: page.uri} for page in group.pages)]})
    return [*result, "reference/options.md", "reference/names.md"]
