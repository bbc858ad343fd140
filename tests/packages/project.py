"""A clean directory that holds what the page about installing assumes: a copy of gyre, and the README's programs."""

import os
import random
import shutil
import socket
import subprocess
import threading
from pathlib import Path

import check_docs
from guide import INSTALLING, PROGRAMS, ROOT, TEN_MINUTES

HERE = Path(__file__).resolve().parent
SCRATCH = ROOT / "build/packages"
SOURCE = SCRATCH / "gyre"
PASSED_ON = ("PATH", "CCACHE_", "CMAKE_CXX_COMPILER_LAUNCHER", "GLIBC_TUNABLES", "PIP_")


class failed(Exception):
    pass


def copy_source():
    """The files that git knows, as they are now: a clone has nothing else."""
    shutil.rmtree(SCRATCH, ignore_errors=True)
    files = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                           capture_output=True, text=True, check=True).stdout.split("\0")
    for name in files:
        if name and (ROOT / name).is_file():
            (SOURCE / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, SOURCE / name)


ports = set()
ports_lock = threading.Lock()


def unused_port():
    """A port that no other program of this test was given. The kernel gives none below 32768 to outgoing connections:
    it is still free when the program has been built."""
    with ports_lock:
        while True:
            port = random.randrange(20000, 32000)
            with socket.socket() as probe:
                if port not in ports and probe.connect_ex(("127.0.0.1", port)) != 0:
                    ports.add(port)
                    return port


class project:
    def __init__(self, name, compiler, shared=None, source=None):
        self.name, self.compiler = f"{name}, {compiler}", compiler
        self.folder = SCRATCH / f"{name}-{compiler}".replace(" ", "-").replace("+", "x")
        self.folder.mkdir(parents=True)
        (self.folder / "gyre").symlink_to(source or SOURCE)
        self.checks = {}
        for each in PROGRAMS:
            port = unused_port()
            code, check = each.on(port)
            (self.folder / f"{each.name}.cpp").write_text(code)
            self.checks[each.name] = (port, check)
        self.environment = {key: value for key, value in os.environ.items() if key.startswith(PASSED_ON)}
        self.environment |= {"CXX": compiler, "HOME": str(self.folder), "LC_ALL": "C.UTF-8",
                             "CMAKE_TOOLCHAIN_FILE": str(HERE / "toolchain.cmake")}
        if shared is not None:
            self.environment["GYRE_PACKAGES_SHARED"] = "ON" if shared else "OFF"

    def run(self, script, fails=False):
        """Runs a script in the folder and returns its output. Only one that `fails` may fail, and it must."""
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=self.folder, env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if (done.returncode != 0) != fails:
            raise failed(f"{self.name}: exit code {done.returncode}\n{script}\n{done.stdout}")
        return done.stdout

    def follow(self, chapter, scripts=slice(None)):
        """Does what the chapter says; of its scripts only these. Returns what the last one prints."""
        blocks = (INSTALLING | TEN_MINUTES)[chapter]
        printed = ""
        for each in blocks:
            if each.file:
                (self.folder / each.file).write_text(each.text)
        for each in [each for each in blocks if not each.file][scripts]:
            printed = self.run(each.text)
        return printed

    def must_serve(self, folder="."):
        """The README's programs, which a chapter has built, do what the README says."""
        for name, (port, check) in self.checks.items():
            problems = check_docs.check_server(f"{self.name}: {name}", self.folder / folder / name, [port], check)
            if problems:
                raise failed("\n".join(problems))

    def must_print(self, script, expected):
        output = self.run(script).strip()
        if output != expected:
            raise failed(f"{self.name}: {script}: printed {output!r}, not {expected!r}")

    def must_say(self, script, expected):
        """The script fails with this sentence."""
        output = " ".join(self.run(script, fails=True).split())
        if expected not in output:
            raise failed(f"{self.name}: {script}: does not say {expected!r}:\n{output}")
