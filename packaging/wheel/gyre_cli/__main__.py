"""`python -m gyre_cli`: runs the `gyre` that was installed with this package."""

import os
import sys
import sysconfig

PROGRAM = os.path.join(sysconfig.get_path("scripts"), "gyre")
os.execv(PROGRAM, [PROGRAM, *sys.argv[1:]])
