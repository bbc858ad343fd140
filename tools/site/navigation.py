"""Replaces the patterns in the navigation of mkdocs.yml by the pages that exist."""

import fnmatch


def names_for(pattern, pages):
    if pattern.endswith("?"):
        return [pattern[:-1]] if pattern[:-1] in pages else []
    if "*" not in pattern:
        return [pattern]
    found = sorted(page for page in pages if fnmatch.fnmatchcase(page, pattern))
    front = pattern.replace("*", "README.md")
    return sorted(found, key=lambda page: page != front)


def expanded(entries, reference, pages):
    """The entries of a level of the navigation; a level that is left without pages disappears. `reference`
    stands for the generated one."""
    result, seen = [], set()
    for entry in entries:
        title, content = next(iter(entry.items())) if isinstance(entry, dict) else (None, entry)
        if isinstance(content, list):
            content = expanded(content, reference, pages)
            result += [{title: content}] if content else []
            continue
        if content == "reference":
            result.append({title: reference})
            continue
        names = [name for name in names_for(content, pages) if name not in seen]
        seen |= set(names)
        if "*" in content and title is not None:
            result += [{title: names}] if names else []
        else:
            result += [name if title is None else {title: name} for name in names]
    return result
