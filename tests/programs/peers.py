"""Builds peers of gyre that are written in Go: once for all scripts and both backends."""

import fcntl
import hashlib
import os

from support import BIN, run

BUILT = BIN.parent / "peers"
# Without optimization, compiling the packages that these programs use takes 20 s of a processor instead of 35 s. All
# programs need the same flags, so that Go compiles the packages only once.
COMMAND = ("go", "build", "-gcflags=all=-N -l -dwarf=false", "-ldflags=-s -w")
SETTINGS = {"CGO_ENABLED": "0", "GOGC": "400", "GO111MODULE": "off", "GOFLAGS": "", "GOTOOLCHAIN": "local"}


def built(source):
    """Returns the program that the Go file becomes. Its name has a hash of the text, so that a program that is there
    is up to date."""
    digest = hashlib.sha256(source.read_bytes() + repr((COMMAND, SETTINGS)).encode()).hexdigest()
    program = BUILT / f"{source.parent.name}-{source.stem}-{digest[:16]}"
    BUILT.mkdir(parents=True, exist_ok=True)
    with open(BUILT / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # other scripts wait, and then find the program or its packages
        if not program.exists():
            unfinished = program.with_suffix(".unfinished")
            done = run(*COMMAND, "-o", unfinished, source, timeout=190,
                       env={"HOME": str(BUILT), **os.environ, **SETTINGS})
            if done.returncode != 0:
                raise AssertionError(f"go build {source}: {done.stderr.decode()}")
            unfinished.replace(program)
    return program
