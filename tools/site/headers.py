"""Reads the public headers with libclang: every public name, its text in the header, and its comment."""

import glob
import re
from dataclasses import dataclass, field
from pathlib import Path

from clang import cindex
from clang.cindex import AccessSpecifier, CursorKind, TranslationUnit

ROOT = Path(__file__).resolve().parent.parent.parent
INCLUDE = ROOT / "include"
MAX_COLUMNS = 84
BOOST = "gyre/interop/boost_asio.hpp"
CLASSES = {CursorKind.CLASS_DECL, CursorKind.STRUCT_DECL, CursorKind.CLASS_TEMPLATE, CursorKind.UNION_DECL}
FUNCTIONS = {CursorKind.FUNCTION_DECL, CursorKind.FUNCTION_TEMPLATE, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR,
             CursorKind.CONVERSION_FUNCTION}
KINDS = {CursorKind.TYPE_ALIAS_DECL: "type", CursorKind.TYPE_ALIAS_TEMPLATE_DECL: "type",
         CursorKind.CONCEPT_DECL: "concept", CursorKind.VAR_DECL: "variable", CursorKind.FIELD_DECL: "field",
         CursorKind.ENUM_DECL: "enum", CursorKind.ENUM_CONSTANT_DECL: "value"}
SKIP_BODIES = TranslationUnit.PARSE_SKIP_FUNCTION_BODIES | TranslationUnit.PARSE_INCOMPLETE
OWN = re.compile(r"\bGYRE_(?:API|LIFETIMEBOUND|CORO_WRAPPER|CORO_TYPE)\b ?")
ATTRIBUTES = re.compile(r"\[\[(?:nodiscard|gnu|clang|maybe_unused|no_unique_address)[^\]]*\]\] ?")


@dataclass
class Name:
    """A public name: one declaration of it."""
    kind: str  # class, function, type, concept, variable, field, enum, value, macro
    name: str
    scope: str  # the namespaces and classes around it, such as gyre::http
    header: str  # tasks/task_group.hpp
    line: int
    text: str  # the declaration without its body
    comment: str
    follows: bool = False  # directly below the declaration above, without a comment of its own
    type: str = ""  # of a field
    default: str = ""
    members: list = field(default_factory=list)
    bases: list = field(default_factory=list)

    @property
    def qualified(self):
        return f"{self.scope}::{self.name}"


def library():
    found = sorted(glob.glob("/usr/lib/llvm-19/lib/libclang*.so*"), key=len)
    found = [name for name in found if "cpp" not in name]
    if not found:
        raise SystemExit("site: libclang of clang 19 is not installed (Debian: clang-19)")
    return found[0]


def plain_name(cursor):
    """The name without the parameters of a template. That of libclang for an unnamed enum contains a path."""
    if cursor.spelling.startswith("(unnamed"):
        return cursor.spelling.split()[1] + " without a name"
    return cursor.spelling if cursor.spelling.startswith("operator") else re.sub(r"<.*", "", cursor.spelling)


def end_of_declaration(text, start):
    """The place of the `;`, the body or the initializer list that ends the declaration whose name is at `start`."""
    depth, at = 0, start
    while at < len(text):
        char = text[at]
        if text.startswith("//", at):
            at = text.index("\n", at)
        elif char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif char in "\"'":
            at += len(re.match(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|.', text[at:]).group(0)) - 1
        elif depth == 0 and char in ";{":
            return at
        elif depth == 0 and char == ":" and text[at - 1] != ":" and text[at + 1] != ":" and ")" in text[start:at]:
            return at
        at += 1
    return at


def tidy(text, margin=0):
    """Without attributes, comments, and so many columns of indentation."""
    text = ATTRIBUTES.sub("", OWN.sub("", text))
    text = re.sub(r"\bGYRE_DELETED\((\"(?:[^\"\\]|\\.)*\")\)", r"= delete(\1)", text)
    text = re.sub(r" +([,)])", r"\1", re.sub(r" ?//[^\n]*|/\*.*?\*/", "", text))
    lines = [line.rstrip() for line in text.split("\n") if line.strip()]
    return "\n".join([lines[0].strip(), *(line[margin:] for line in lines[1:])]) if lines else ""


def split(parameters):
    """Splits at the commas that are not inside of brackets."""
    depth, parts = 0, [""]
    for char in parameters:
        depth += (char in "(<[{") - (char in ")>]}")
        if char == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts if part.strip()]


def laid_out(declaration, name):
    """A declaration on one line, or with a line for each parameter when it is long."""
    line = re.sub(r"(?<=[(<]) | (?=[)>,])", "", re.sub(r"\s+", " ", declaration))
    line = re.sub(r"(?<=[)\w]) requires\b", "\n  requires", line)
    if len(line) <= MAX_COLUMNS or "(" not in line:
        return line
    first = line.index("(", max(line.find(name), 0) + len(name))
    depth = 0
    for last in range(first, len(line)):
        depth += (line[last] in "([{") - (line[last] in ")]}")
        if depth == 0:
            break
    parameters = split(line[first + 1:last])
    return line[:first + 1] + "\n    " + ",\n    ".join(parameters) + line[last:]


class Reader:
    def __init__(self):
        self.texts = {}
        if not cindex.Config.loaded:
            cindex.Config.set_library_file(library())

    def read(self):
        """The names of all headers, in the order of the headers' paths and of their lines."""
        paths = sorted(path.relative_to(INCLUDE).as_posix() for path in (INCLUDE / "gyre").rglob("*.hpp"))
        paths.remove(BOOST)
        unit = self.parsed(paths, {})
        errors = [str(each) for each in unit.diagnostics if each.severity >= cindex.Diagnostic.Error]
        if errors:
            raise SystemExit("site: the headers do not compile:\n" + "\n".join(errors[:10]))
        names = []
        self.walk(unit.cursor, "", names)
        # The two Asios exclude each other. Boost is large, and its names are not needed to find ours.
        empty = {f"/absent/{each}": "" for each in
                 re.findall(r"#include <(boost/[^>]+)>", (INCLUDE / BOOST).read_text())}
        beside = []
        self.walk(self.parsed([BOOST], empty).cursor, "", beside)
        names += [each for each in beside if f"gyre/{each.header}" == BOOST]
        names += self.macros()
        self.mark_followers(names)
        return sorted(names, key=lambda each: (each.header, each.line))

    @staticmethod
    def parsed(paths, absent):
        program = "".join(f"#include <{path}>\n" for path in paths)
        return cindex.Index.create().parse(
            "all.cpp", args=["-std=c++23", "-I/absent", f"-I{INCLUDE}", "-Wno-everything"],
            unsaved_files=[("all.cpp", program), *absent.items()], options=SKIP_BODIES)

    def text(self, header):
        if header not in self.texts:
            self.texts[header] = (INCLUDE / "gyre" / header).read_bytes()
        return self.texts[header]

    def header_of(self, cursor):
        file = cursor.location.file
        prefix = f"{INCLUDE}/gyre/"
        return file.name[len(prefix):] if file is not None and file.name.startswith(prefix) else None

    def walk(self, parent, scope, names):
        for cursor in parent.get_children():
            header = self.header_of(cursor)
            if header is None:
                continue
            if cursor.kind == CursorKind.NAMESPACE:
                if cursor.spelling and cursor.spelling != "std":
                    self.walk(cursor, f"{scope}::{cursor.spelling}".removeprefix("::"), names)
            elif cursor.kind == CursorKind.LINKAGE_SPEC:
                self.walk(cursor, scope, names)
            elif scope.startswith("gyre"):
                found = self.name(cursor, scope, header)
                if found is not None:
                    names.append(found)

    def name(self, cursor, scope, header):
        """The public name that a cursor declares, or None."""
        kind = KINDS.get(cursor.kind)
        if cursor.kind in CLASSES:
            if not cursor.is_definition() or not cursor.spelling or "(unnamed" in cursor.spelling:
                return None
            kind = "class"
        elif cursor.kind in FUNCTIONS:
            kind = "function"
        if kind is None or cursor.spelling.startswith("<deduction guide"):
            return None
        lexical, semantic = cursor.lexical_parent, cursor.semantic_parent
        if lexical is not None and semantic is not None and lexical != semantic:
            return None  # the definition of a member outside of its class
        if kind == "enum" and not cursor.is_definition():
            return None
        first = cursor.canonical
        if kind in ("function", "variable") and first != cursor and self.header_of(first) == header:
            return None
        text, own_type, default = self.declaration(cursor, kind, header)
        comment = cursor.raw_comment or ""
        result = Name(kind, plain_name(cursor), scope, header, cursor.extent.start.line, text,
                      comment if comment.startswith("///") else "", type=own_type, default=default)
        if kind in ("class", "enum"):
            self.add_members(cursor, result)
        return result

    def declaration(self, cursor, kind, header):
        data, margin = self.text(header), cursor.extent.start.column - 1
        start, end = cursor.extent.start.offset, cursor.extent.end.offset
        if kind in ("field", "variable", "type", "concept", "value"):
            text = data[start:end].decode()
            own_type = default = ""
            if kind in ("field", "variable"):
                own_type = tidy(data[start:cursor.location.offset].decode())
                behind = data[cursor.location.offset:end].decode()
                found = re.match(r"[\w:<>]+(?:\[\w*\])?\s*(=\s*|(?=\{))(.*)", behind, re.S)
                default = re.sub(r"\s+", " ", found[2]) if found else ""
            return tidy(text, margin), own_type, default
        text = data[start:].decode()
        name_at = len(data[start:cursor.location.offset].decode())
        stop = end_of_declaration(text, name_at)
        if kind != "function":
            return tidy(re.sub(r"(: |, )(?:private|protected) [^,{]+", "", text[:stop]).rstrip(), margin), "", ""
        begin = self.first_line(text, name_at)
        head = tidy(text[:begin], margin)
        return "\n".join(filter(None, [head, laid_out(tidy(text[begin:stop]), plain_name(cursor))])), "", ""

    @staticmethod
    def first_line(text, name_at):
        """Where a function's declaration begins, behind `template` and `requires`."""
        begin = text.rfind("\n", 0, name_at) + 1
        return begin if re.match(r"template\b", text) else 0

    def add_members(self, cursor, result):
        inside = f"{result.scope}::{result.name}"
        for child in cursor.get_children():
            if child.kind == CursorKind.CXX_BASE_SPECIFIER:
                if child.access_specifier == AccessSpecifier.PUBLIC:
                    result.bases.append(child.type.spelling)
                continue
            public = child.access_specifier == AccessSpecifier.PUBLIC or result.kind == "enum"
            if not public or self.header_of(child) != result.header:
                continue
            member = self.name(child, inside, result.header)
            if member is not None and not self.is_noise(member):
                result.members.append(member)
        self.mark_followers(result.members)

    def mark_followers(self, names):
        """Marks the names that stand directly below another declaration."""
        for name in names:
            above = self.text(name.header).decode().split("\n")[name.line - 2].strip()
            name.follows = not name.comment and bool(above) and not above.startswith(("//", "public:"))

    @staticmethod
    def is_noise(member):
        """Copies and moves that are deleted or have no comment."""
        own = member.scope.rsplit("::", 1)[1]
        copies = re.search(rf"\((?:const )?{own}(?:<.*>)?&&?(?: \w+)?\)", member.text)
        return member.kind == "function" and not member.comment and bool(copies) and \
            (member.name in (own, "operator=") or "delete" in member.text)

    def macros(self):
        lines = self.text("attributes.hpp").decode().split("\n")
        found = {}
        for number, line in enumerate(lines, 1):
            macro = re.match(r"#define (GYRE_\w+(?:\([\w, ]+\))?)", line)
            if macro and macro.group(1) not in found:
                above = number - 2
                while above >= 0 and lines[above].startswith("#"):
                    above -= 1
                begin = above
                while begin >= 0 and lines[begin].startswith("///"):
                    begin -= 1
                found[macro.group(1)] = Name("macro", macro.group(1).split("(")[0], "", "attributes.hpp", number,
                                             f"#define {macro.group(1)}", "\n".join(lines[begin + 1:above + 1]))
        return list(found.values())


def read():
    return Reader().read()
