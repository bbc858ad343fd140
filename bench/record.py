"""The tables of a run as data: bench/run.py --json FILE writes them, and bench/plots.py draws them."""

import datetime
import json
import os
import platform
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLES = []


def record(name, kind, title, unit, rows):
    """Keeps a table. `rows`: name -> the figure of each round. `kind`: "rate", which is compared within a round, or
    "cost", whose figures do not depend on the load of the machine."""
    TABLES.append({"name": name, "kind": kind, "title": title, "unit": unit, "rows": rows})


def environment(arguments):
    def first(pattern, file):
        found = re.search(pattern, Path(file).read_text(), re.M)
        return found[1].strip() if found else "unknown"

    cache = ROOT / "build/release/CMakeCache.txt"
    compiler = first(r"^CMAKE_CXX_COMPILER:\w+=(.+)$", cache) if cache.exists() else "unknown"
    commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    kernel = ".".join(platform.release().split(".")[:2])
    return {"date": datetime.date.today().isoformat(), "kernel": f"{platform.system()} {kernel}",
            "processor": first(r"^model name\s*:(.*)$", "/proc/cpuinfo"), "cores": os.cpu_count(),
            "compiler": os.path.basename(compiler), "commit": commit.stdout.strip(), "rounds": arguments.rounds,
            "seconds": arguments.seconds}


class Recording:
    """Writes the tables at the end of a run, and the load of the machine when it began and ended."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.load = os.getloadavg()[0]

    def write(self):
        if self.arguments.json:
            about = environment(self.arguments) | {"load_before": round(self.load, 2),
                                                   "load_after": round(os.getloadavg()[0], 2)}
            text = json.dumps({"environment": about, "tables": TABLES}, indent=1)
            Path(self.arguments.json).write_text(text + "\n")
