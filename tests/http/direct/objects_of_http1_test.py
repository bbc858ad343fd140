"""A program without connections contains no function of HTTP/1.1 or of a transport.

    objects_of_http1_test.py NM LIBRARY PROGRAM OTHER

OTHER is a program that contains them."""
import subprocess
import sys
from pathlib import Path

HTTP = Path(__file__).resolve().parents[3] / "src/http"
FOLDERS = ("http1", "http1_connection", "transport")
MEMBERS = {source.name + ".o" for folder in FOLDERS for source in (HTTP / folder).glob("*.cpp")}


def symbols(nm, file, kinds):
    """The defined symbols of these kinds, with the members of the library that define them."""
    text = subprocess.run([nm, "--defined-only", "-A", file], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        where, _, rest = line.rpartition(":")  # a file, or a file and its member
        kind, name = rest.split()[-2:]
        if kind in kinds:
            yield where.rpartition(":")[2], name


def main(nm, library, program, other):
    # Inline functions are weak, and may be in any object.
    http1 = {name for member, name in symbols(nm, library, "TDBR") if member in MEMBERS}
    assert len(http1) > 50, f"{library}: the objects of HTTP/1.1 define {len(http1)} symbols"
    contained = {each: http1 & {name for _, name in symbols(nm, each, "TtDdBbRr")} for each in (program, other)}
    assert len(contained[other]) > 50, f"{other} contains only {len(contained[other])} symbols of HTTP/1.1"
    found = sorted(contained[program])
    assert not found, f"{program} contains {len(found)} symbols of HTTP/1.1: {found[:5]}"
    print(f"none of {len(http1)} symbols of HTTP/1.1 is in {program}; {len(contained[other])} are in {other}")


if __name__ == "__main__":
    main(*sys.argv[1:])
