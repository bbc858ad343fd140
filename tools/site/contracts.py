"""Turns the comment of a declaration into Markdown."""

import re

# The labels of contracts: see the beginning of CONTRIBUTING.md's rules. Each becomes a paragraph of its own.
LABELS = "Thread|Overlap|Lifetime|Cancel|Errors|Units|Security|Exceptions|Time"
LABEL = re.compile(rf"(?:(?<=[.:;)`] )|^)((?:{LABELS})(?:, [^.:]{{1,40}})?): ", re.M)
# What is surely code: names with an underscore, qualified names, calls, and templates with their arguments.
WORD = re.compile(r"(?<![\w`:/.<])((?:[a-z]\w*::)+\w+(?:<[\w:, &*]*>|\(\))?&?|[a-z]\w*<[\w:, &*]*>&?|"
                  r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?:\([^()\s]*\))?&?|[a-z][a-z0-9]*\((?!s\))[^()\s]*\))(?![\w`<])")


def lines_of(comment):
    """The text of the lines, without the marks of a comment."""
    lines = [re.sub(r"^\s*///?<? ?", "", line) for line in comment.split("\n")]
    return [line.rstrip() for line in lines]


def escaped(text):
    """Prose in which only the quoted parts are code. Names that are surely names become code, too."""
    parts = re.split(r"(`[^`]*`)", text)
    for at in range(0, len(parts), 2):
        words = WORD.split(parts[at])
        for place in range(0, len(words), 2):
            plain = words[place].replace("&", "&amp;").replace("<", "&lt;")
            words[place] = plain.replace("*", "\\*").replace("[", "\\[")
        words[1::2] = [f"`{word}`" for word in words[1::2]]
        parts[at] = "".join(words)
    return "".join(parts)


def paragraphs(lines):
    """(kind, lines) of each paragraph; the kinds are code, item and text."""
    result, blank = [], True
    for line in lines:
        if not line.strip():
            blank = True
            continue
        if line.startswith("* "):
            result.append(("item", [line[2:]]))
        elif line.startswith("  ") and (blank or (result and result[-1][0] == "code")):
            if result and result[-1][0] == "code":
                result[-1][1].append(line[2:])
            else:
                result.append(("code", [line[2:]]))
        elif not blank and result and result[-1][0] != "code":
            result[-1][1].append(line.strip())
        else:
            result.append(("text", [line]))
        blank = False
    return result


def with_labels(text):
    """Paragraphs of a text: its own, and one for each label in it."""
    parts = LABEL.split(text)
    result = [escaped(parts[0].strip())] if parts[0].strip() else []
    for label, content in zip(parts[1::2], parts[2::2]):
        result.append(f"**{label}:** {escaped(content.strip())}")
    return "\n\n".join(result)


def to_markdown(comment):
    result = []
    for kind, lines in paragraphs(lines_of(comment)):
        if kind == "code":
            result.append("```cpp\n" + "\n".join(lines) + "\n```")
        elif kind == "item":
            result.append("* " + escaped(" ".join(lines)))
        else:
            result.append(with_labels(" ".join(lines)))
    text = "\n\n".join(result)
    return re.sub(r"(^\* .*)\n\n(?=\* )", r"\1\n", text, flags=re.M)


def to_cell(comment):
    """The same in a cell of a table."""
    parts = [("• " if kind == "item" else "") + escaped(" ".join(lines))
             for kind, lines in paragraphs(lines_of(comment))]
    text = "<br>".join(parts).replace("|", "\\|")
    return text[:1].upper() + text[1:]
