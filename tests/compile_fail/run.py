"""Compiles a file that must not compile, and looks for the expected words in the compiler's first error.

The first lines of the file give the words as  // expect: WORDS  and, when it needs more flags, as  // flags: FLAGS.
tests/compiler.cmake reads  // compiler: clang  (or g++), where only one compiler reports the error.
"""

import re
import subprocess
import sys

compiler, include, source = sys.argv[1:4]
text = open(source, encoding="utf-8").read()
expected = re.search(r"^// expect: (.*)$", text, re.M).group(1)
flags = re.search(r"^// flags: (.*)$", text, re.M)
done = subprocess.run([compiler, "-std=c++23", "-Wall", "-Wextra", "-Werror",
                       *(flags.group(1).split() if flags else []),
                       f"-I{include}", "-fsyntax-only", source], capture_output=True, text=True)
if done.returncode == 0:
    sys.exit(f"{source} compiles, and must not")
first = done.stderr.split("error: ")[1:2]  # with its notes: there g++ 12 gives the reason of a deleted function
if not first or expected not in first[0]:
    sys.exit(f"{source}: expected \"{expected}\" in the first error; the compiler said:\n{done.stderr}")
