"""Compiles a file that must not compile, and looks for the words that the compiler must say.

The file says which in its first lines:  // expect: WORDS   and, where only one compiler can tell,  // compiler: clang
(or g++), and  // flags: FLAGS  when it needs more.
"""

import os
import re
import subprocess
import sys

compiler, include, source = sys.argv[1:4]
text = open(source, encoding="utf-8").read()
expected = re.search(r"^// expect: (.*)$", text, re.M).group(1)
only = re.search(r"^// compiler: (\S+)$", text, re.M)
if only and not os.path.basename(compiler).startswith(only.group(1)):  # "clang++" contains "g++"
    print(f"only for {only.group(1)}")
    sys.exit(77)
flags = re.search(r"^// flags: (.*)$", text, re.M)
done = subprocess.run([compiler, "-std=c++23", "-Wall", "-Wextra", "-Werror", *(flags.group(1).split() if flags else []),
                       f"-I{include}", "-fsyntax-only", source], capture_output=True, text=True)
if done.returncode == 0:
    sys.exit(f"{source} compiles, and must not")
if expected not in done.stderr:
    sys.exit(f"{source}: expected the compiler to say \"{expected}\"; it said:\n{done.stderr}")
