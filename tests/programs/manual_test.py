"""Manual pages, completions and units of the command gyre: made from its help, and accepted by those that read them."""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
import unittest
from pathlib import Path

from support import BIN, run, temporary_folder

PACKAGING = Path(__file__).resolve().parents[2] / "packaging"
sys.path.insert(0, str(PACKAGING / "manual"))
import command_help  # noqa: E402

PAGES = ("gyre", "gyre-doctor", "gyre-fetch", "gyre-load", "gyre-proxy", "gyre-serve")
SERVE = ("--listen", "--listing", "--no-listing")


def needs(name):
    return unittest.skipUnless(shutil.which(name), f"{name} is not installed")


def made_by(script, test, environment=None):
    """The folder that a script of packaging/manual writes."""
    folder = temporary_folder(test)
    done = run(sys.executable, "-B", PACKAGING / "manual" / script, BIN / "gyre", folder,
               env={**os.environ, **(environment or {})})
    test.assertEqual((done.returncode, done.stderr), (0, b""))
    return folder


class Manual(unittest.TestCase):
    def setUp(self):
        self.folder = made_by("write_manual.py", self, {"SOURCE_DATE_EPOCH": "86400"})

    def test_each_command_has_a_page_that_names_all_of_its_options(self):
        self.assertEqual(sorted(each.stem for each in self.folder.iterdir()), list(PAGES))
        for command in command_help.read(BIN / "gyre"):
            text = (self.folder / f"{'-'.join(command.words)}.1").read_text().replace(r"\-", "-")
            for option in command.options:
                for name in option.names:
                    self.assertIn(rf"\fB{name}\fR", text)
                self.assertTrue(not option.variable or option.variable in text, option)

    def test_the_date_can_be_fixed_so_that_a_build_can_be_repeated(self):
        for name in PAGES:
            self.assertIn('"1970-01-02"', (self.folder / f"{name}.1").read_text().splitlines()[0])

    def test_the_codes_of_fetch_are_those_of_the_guide(self):
        self.assertRegex((self.folder / "gyre-fetch.1").read_text(), r"\.TP\n60\n.*certificate.*\n")

    @needs("mandoc")
    def test_mandoc_has_nothing_to_say_about_them(self):
        done = run("mandoc", "-T", "lint", "-W", "warning", *self.folder.iterdir())
        self.assertEqual((done.returncode, done.stdout), (0, b""))


class Completion(unittest.TestCase):
    def setUp(self):
        self.folder = made_by("write_completion.py", self)
        self.here = temporary_folder(self)
        (self.here / "a site").mkdir()
        (self.here / "a file").touch()

    def bash(self, *words):
        """What bash offers for the last of the words."""
        script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compopt() { :; }\n' \
                 'complete -p gyre >/dev/null && _gyre && printf "%s\\n" "${COMPREPLY[@]}"'
        done = run("bash", "-c", script, "bash", self.folder / "bash/gyre", *words, cwd=self.here)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout.decode().splitlines()

    def test_bash_offers_commands_options_values_and_directories(self):
        self.assertEqual(set(self.bash("gyre", "")) & {"doctor", "fetch", "load", "proxy", "serve", "--version"},
                         {"doctor", "fetch", "load", "proxy", "serve", "--version"})
        self.assertEqual(self.bash("gyre", "serve", "--lis"), ["--listen", "--listing"])
        self.assertEqual(self.bash("gyre", "serve", "--backend", ""), ["auto", "io_uring", "epoll"])
        self.assertEqual(self.bash("gyre", "proxy", "--balance", "r"), ["round-robin"])
        self.assertEqual(self.bash("gyre", "serve", "a"), ["a site"])
        self.assertEqual(self.bash("gyre", "fetch", "--output", "x", "--output-d"), ["--output-dir"])
        self.assertEqual(self.bash("gyre", "fetch", "--output", "a"), [""])  # bash then offers files itself

    def fish(self, line):
        done = run("fish", "--no-config", "-c", f"source {self.folder / 'fish/gyre.fish'}; complete -C '{line}'",
                   cwd=self.here, env={**os.environ, "HOME": str(self.here)})
        self.assertEqual(done.returncode, 0, done.stderr)
        return [each.split("\t")[0] for each in done.stdout.decode().splitlines()]

    @needs("fish")
    def test_fish_offers_commands_options_values_and_directories(self):
        self.assertEqual(sorted(self.fish("gyre ")), ["doctor", "fetch", "load", "proxy", "serve"])
        self.assertEqual(self.fish("gyre serve --lis"), ["--listen", "--listing"])
        self.assertEqual(sorted(self.fish("gyre serve --backend ")), ["auto", "epoll", "io_uring"])
        self.assertEqual(self.fish("gyre serve a"), ["a site/"])

    def zsh(self, line, expected):
        """A terminal shows the expected text behind the line and two tabs."""
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(self.here)
            os.execvpe("zsh", ["zsh", "-f"], {**os.environ, "TERM": "dumb", "HOME": str(self.here), "PS1": "type> "})
        try:
            self.typed(terminal, f"unsetopt zle_bracketed_paste; fpath=({self.folder}/zsh $fpath); "
                                 "autoload -Uz compinit; compinit -u; echo rea''dy\n", "(?s)ready.*type> ")
            self.typed(terminal, f"{line}\t\t", expected)
        finally:
            os.close(terminal)
            os.kill(process, 9)
            os.waitpid(process, 0)

    def typed(self, terminal, text, expected):
        """Types the text, and waits until the terminal shows what is expected."""
        os.write(terminal, text.encode())
        shown, deadline = "", time.monotonic() + 20
        while not re.search(expected, shown) and time.monotonic() < deadline:
            if select.select([terminal], [], [], 1)[0]:
                shown += os.read(terminal, 65536).decode(errors="replace")
        self.assertRegex(shown, expected)

    @needs("zsh")
    def test_zsh_offers_commands_options_and_values(self):
        self.zsh("gyre ", "(?s)doctor.*fetch.*load.*proxy.*serve")
        self.zsh("gyre serve --lis", "(?s)--listen.*--listing")
        self.zsh("gyre serve --backend ", "(?s)auto.*epoll.*io_uring")


class Units(unittest.TestCase):
    UNITS = tuple((PACKAGING / "systemd").glob("*.service"))

    def test_they_start_commands_with_options_that_exist(self):
        for unit in self.UNITS:
            name, options = re.search(r"^ExecStart=/usr/bin/gyre (\w+)(.*)", unit.read_text(), re.M).groups()
            command = next(each for each in command_help.read(BIN / "gyre") if each.words[1:] == [name])
            known = {each for option in command.options for each in option.names}
            self.assertLessEqual(set(re.findall(r"--[\w-]+", options)), known)

    @needs("systemd-analyze")
    def test_systemd_accepts_them_and_finds_them_well_confined(self):
        folder = temporary_folder(self)
        for unit in self.UNITS:
            copy = folder / unit.name
            copy.write_text(unit.read_text().replace("/usr/bin/gyre", str((BIN / "gyre").resolve())))
            for command in (("verify", "--man=no"), ("security", "--offline=yes", "--threshold=20", "--no-pager")):
                done = subprocess.run(["systemd-analyze", *command, copy], capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
