"""Prints the tests that a run of ctest skipped, each with its reason.

    python3 tests/skipped.py build/release/tests.xml

Counted are tests that ctest was told to skip, and cases inside a program of
GoogleTest or unittest that skipped themselves.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree

CASE = re.compile(r"^[^\n]*: Skipped\n(.*?)\n(?:\n?)\[  SKIPPED \] (\S+)", re.M | re.S)

UNITTEST_CASE = re.compile(r"^(\w+) \([^)\n]*\).*\.\.\. skipped ['\"](.*)['\"]$", re.M)


def skips(junit):
    for test in ElementTree.parse(junit).getroot().iter("testcase"):
        output = test.findtext("system-out") or ""
        cases = [(name, " ".join(reason.split())) for reason, name in CASE.findall(output)]
        cases += UNITTEST_CASE.findall(output)
        if cases:
            for name, reason in cases:
                yield f"{test.get('name')}: {name}", reason or "no reason given"
        elif test.find("skipped") is not None:
            lines = [line for line in output.splitlines() if line.strip()]
            said = [line for line in lines if "skip" in line.lower()] or lines[-1:]
            yield test.get("name"), said[0].strip() if said else "no reason given"


def main():
    found = list(skips(sys.argv[1]))
    print(f"run: {len(found)} skipped")
    for name, reason in found:
        print(f"  {name}: {reason}")


main()
