#!/usr/bin/env python3
"""Lists what a run of ctest has skipped, and why, from the file that ctest wrote with --output-junit: whole tests, and
cases of GoogleTest and unittest inside of them.

    tools/skipped.py build/*/tests.xml"""

import re
import sys
import xml.etree.ElementTree as ElementTree

GOOGLE = re.compile(r"^\[ RUN      \] ([\w./]+)\n(?:(?!\[ RUN)[^\n]*\n)*?\S+: Skipped\n([^\n]*)\n", re.M)
# unittest indents the line of a sub-test, and prints two lines for a test with a docstring.
UNITTEST = re.compile(r"^ *(\w+) \(.*\)(?:\n?.*) \.\.\. skipped ['\"](.*)['\"]$", re.M)


def skipped(xml):
    """(name, reason) of everything that was skipped."""
    for case in ElementTree.fromstring(xml).iter("testcase"):
        name, output = case.get("name"), case.findtext("system-out") or ""
        inside = [(f"{name}: {case_name}", reason) for case_name, reason in
                  GOOGLE.findall(output) + UNITTEST.findall(output)]
        if case.get("status") == "notrun" and not inside:
            lines = [line for line in output.splitlines() if line.strip()]
            inside = [(name, lines[-1] if lines else "")]
        yield from inside


def self_test():
    xml = """<testsuite><testcase name="a" status="run"><system-out>
[ RUN      ] net.over_ipv4
[       OK ] net.over_ipv4 (0 ms)
[ RUN      ] net.over_ipv6
/src/net_test.cpp:7: Skipped
no IPv6

[  SKIPPED ] net.over_ipv6 (0 ms)
[  SKIPPED ] 1 test, listed below:
[  SKIPPED ] net.over_ipv6
test_page (browser_test.Browser.test_page) ... skipped 'no browser'
test_form (browser_test.Browser.test_form)
A form is sent. ... skipped 'no form'
test_all (browser_test.Browser.test_all) ... 
  test_all (browser_test.Browser.test_all) (i=1) ... skipped 'no (i)'
</system-out></testcase><testcase name="b" status="notrun"><system-out>no go
</system-out></testcase><testcase name="c" status="run"/></testsuite>"""
    assert list(skipped(xml)) == [("a: net.over_ipv6", "no IPv6"), ("a: test_page", "no browser"),
                                  ("a: test_form", "no form"), ("a: test_all", "no (i)"), ("b", "no go")]


if __name__ == "__main__":
    self_test()
    for file in sys.argv[1:]:
        preset = file.split("/")[-2]
        by_reason = {}
        for name, reason in skipped(open(file, encoding="utf-8").read()):
            by_reason.setdefault(reason, []).append(name)
        for reason, names in by_reason.items():
            print(f"{preset}: {reason or 'no reason given'}")
            for name in names:
                print(f"    {name}")
