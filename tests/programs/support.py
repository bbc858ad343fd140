"""Starts the programs under test on free ports of 127.0.0.1 and ends them, whatever happens."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

BIN = Path(os.environ.get("GYRE_BIN_DIR", "build/release/bin"))


class Program:
    def __init__(self, name, *arguments):
        self.command = [str(BIN / name), "--listen", "127.0.0.1:0", *arguments]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        found = re.fullmatch(r"listening on 127\.0\.0\.1:(\d+) \((io_uring|epoll)\)\n", line)
        if not found:
            self.process.kill()
            raise AssertionError(f"unexpected first line: {line!r}")
        self.port, self.backend = int(found.group(1)), found.group(2)
        return self

    def stop(self, number=signal.SIGTERM, timeout=20):
        """Sends a signal; gives the exit code."""
        self.process.send_signal(number)
        return self.process.wait(timeout)

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stderr.close()


def run(*command, timeout=60, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, timeout=timeout, **options)


def skip_without(*names):
    import shutil
    missing = [n for n in names if not shutil.which(n)]
    if missing:
        print(f"skipped: {', '.join(missing)} not installed")
        sys.exit(77)
