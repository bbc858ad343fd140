"""The script ./gyre lists its commands without building anything."""

import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def script(*arguments):
    return subprocess.run([str(ROOT / "gyre"), *arguments], capture_output=True, text=True, timeout=30)


class Script(unittest.TestCase):
    def test_help_names_every_command(self):
        done = script("help")
        self.assertEqual(done.returncode, 0, done.stderr)
        for command in ("demo", "docs", "test", "build", "run", "bench", "doctor"):
            self.assertIn(command, done.stdout)

    def test_run_of_an_unknown_name_lists_the_programs_and_examples(self):
        done = script("run", "no_such_program")
        self.assertEqual(done.returncode, 2, done.stderr)
        names = done.stderr.split(":")[-1].split()
        self.assertIn('"no_such_program"', done.stderr)
        self.assertTrue({"gyre", "resp_server", "01_echo", "hello_server", "hiredis"} <= set(names), done.stderr)
        self.assertNotIn("common", names)

    def test_build_of_an_unknown_preset_is_refused(self):
        done = script("build", "fast")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn('no preset "fast"', done.stderr)


if __name__ == "__main__":
    unittest.main()
