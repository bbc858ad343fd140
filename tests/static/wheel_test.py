"""The wheel of packaging/wheel: installed by pip into a clean environment, without an index."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import BIN, Serve, ask, run, temporary_folder

ROOT = Path(__file__).resolve().parents[2]


def build(folder):
    """Returns the path of the wheel."""
    done = run(sys.executable, ROOT / "packaging/wheel/build.py", BIN / "gyre", BIN.parent / "manual", folder,
               env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
    if done.returncode != 0:
        raise AssertionError(done.stderr.decode())
    return Path(done.stdout.decode().strip())


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.wheel = build(folder.name)

    def test_the_same_files_give_the_same_bytes(self):
        self.assertEqual(self.wheel.read_bytes(), build(temporary_folder(self)).read_bytes())

    def test_pip_installs_a_command_that_serves(self):
        folder = temporary_folder(self)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = folder / "bin/python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index",
                        self.wheel], check=True)
        version = run(BIN / "gyre", "--version").stdout
        self.assertEqual(run(folder / "bin/gyre", "--version").stdout, version)
        self.assertEqual(run(python, "-m", "gyre_cli", "--version").stdout, version)
        self.assertTrue((folder / "share/man/man1/gyre-serve.1").exists())
        (folder / "site").mkdir()
        (folder / "site/a.txt").write_text("hello\n")
        server = Serve(folder / "site")
        server.command[0] = str(folder / "bin/gyre")
        with server:
            self.assertEqual(ask(server.port, "/a.txt")[2], b"hello\n")


if __name__ == "__main__":
    unittest.main()
