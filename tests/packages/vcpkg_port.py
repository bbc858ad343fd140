"""The port for vcpkg fits the tree: vcpkg itself is not run. CMake reads the portfile with functions of those names
that record their arguments."""

import json
import re
import subprocess

from guide import ROOT
from project import SCRATCH, failed

PORT = ROOT / "packaging/vcpkg/ports/gyre"
FUNCTIONS = ("vcpkg_check_features", "vcpkg_cmake_configure", "vcpkg_cmake_install", "vcpkg_cmake_config_fixup",
             "vcpkg_fixup_pkgconfig", "vcpkg_install_copyright")


def calls_of_portfile():
    """(function, arguments) in their order."""
    script = SCRATCH / "vcpkg_port.cmake"
    script.write_text("".join(f'function({name})\n  string(JOIN " " all ${{ARGN}})\n'
                              f'  message("call {name} ${{all}}")\nendfunction()\n' for name in FUNCTIONS) +
                      f'set(CURRENT_PACKAGES_DIR "{SCRATCH}/vcpkg_port")\nset(PORT gyre)\n'
                      f'include("{PORT}/portfile.cmake")\n')
    done = subprocess.run(["cmake", "-P", str(script)], capture_output=True, text=True)
    if done.returncode != 0:
        raise failed(f"the portfile: {done.stderr}")
    return [line.split(" ", 2)[1:] for line in done.stderr.splitlines() if line.startswith("call ")]


def vcpkg_port():
    manifest = json.loads((PORT / "vcpkg.json").read_text())
    version = re.search(r"project\(gyre VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    calls = calls_of_portfile()
    arguments = dict(calls)
    declared = " ".join(each.read_text() for each in [ROOT / "CMakeLists.txt", *(ROOT / "cmake").glob("*.cmake")])
    features = arguments["vcpkg_check_features"].split(" FEATURES ")[1].split()
    options = re.findall(r"\bGYRE_\w+", f"{arguments['vcpkg_check_features']} {arguments['vcpkg_cmake_configure']}")
    checks = {
        "its version is that of CMakeLists.txt": manifest["version-semver"] == version,
        "portfile.cmake calls each function once": [name for name, _ in calls] == list(FUNCTIONS),
        "it packages this tree": f"SOURCE_PATH {ROOT} " in f"{arguments['vcpkg_cmake_configure']} ",
        "the features of both files are the same": set(features[::2]) == set(manifest["features"]),
        "its default features exist": set(manifest["default-features"]) <= set(manifest["features"]),
        "it sets options that exist": options and all(f"option({each} " in declared for each in options),
        "it installs usage and licence": (SCRATCH / "vcpkg_port/share/gyre/usage").is_file(),
    }
    wrong = [what for what, holds in checks.items() if not holds]
    if wrong:
        raise failed(f"the port for vcpkg: not true: {'; '.join(wrong)}")
