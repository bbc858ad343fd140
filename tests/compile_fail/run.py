"""Compiles code that must not compile, and looks for the expected words in the compiler's first error.

    run.py COMPILER INCLUDE HEADER SOURCE CASE    tests a case of a file; HEADER is precompiled
    run.py COMPILER INCLUDE HEADER                precompiles all headers of the library, which takes longer than the
                                                  tests

A case is the part of the file below  // case: NAME  together with what the file has above its first case. There the
words are given as  // expect: WORDS  and, when more flags are needed, as  // flags: FLAGS.  tests/compiler.cmake reads
// compiler: clang  (or g++), where only one compiler reports the errors of a file.
"""

import re
import subprocess
import sys
from pathlib import Path

compiler, include, header = sys.argv[1:4]
command = [compiler, "-std=c++23", "-Wall", "-Wextra", "-Werror", f"-I{include}"]
if len(sys.argv) == 4:
    Path(header).parent.mkdir(parents=True, exist_ok=True)
    Path(header).write_text("#include <gyre/gyre.hpp>\n#include <gyre/http.hpp>\n", encoding="utf-8")
    precompiled = header + (".pch" if "clang" in compiler else ".gch")
    sys.exit(subprocess.run([*command, "-x", "c++-header", header, "-o", precompiled]).returncode)

source, case = sys.argv[4:6]
head, *cases = re.split(r"^// case: ", open(source, encoding="utf-8").read(), flags=re.M)
text = head + "// " + next(each for each in cases if re.match(rf"{case}\b", each))
expected = re.search(r"^// expect: (.*)$", text, re.M).group(1)
flags = re.search(r"^// flags: (.*)$", text, re.M)
# Flags may change what the headers mean. Then they are compiled again.
command += flags.group(1).split() if flags else ["-include", header]
done = subprocess.run([*command, "-fsyntax-only", "-x", "c++", "-"], input=text, capture_output=True, text=True)
if done.returncode == 0:
    sys.exit(f"{case} compiles, and must not")
first = done.stderr.split("error: ")[1:2]  # with its notes: there g++ 12 gives the reason of a deleted function
if not first or expected not in first[0]:
    sys.exit(f"{case}: expected \"{expected}\" in the first error; the compiler said:\n{done.stderr}")
