"""Prints the tests that a run of ctest skipped, each with its reason.

    python3 tests/skipped.py build/release/tests.xml

Counted are tests that ctest was told to skip, and cases inside a program of
GoogleTest or unittest that skipped themselves. Many cases of one program with one
reason, as without a GPU, are one line.
"""
import collections
import re
import sys
import xml.etree.ElementTree as ElementTree

CASE = re.compile(r"^[^\n]*: Skipped\n(.*?)\n(?:\n?)\[  SKIPPED \] (\S+)", re.M | re.S)

UNITTEST_CASE = re.compile(r"^(\w+) \([^)\n]*\).*\.\.\. skipped ['\"](.*)['\"]$", re.M)
MANY = 8  # cases


def skips(junit):
    for test in ElementTree.parse(junit).getroot().iter("testcase"):
        output = test.findtext("system-out") or ""
        cases = [(name, " ".join(reason.split())) for reason, name in CASE.findall(output)]
        cases += UNITTEST_CASE.findall(output)
        reasons = collections.defaultdict(list)
        for name, reason in cases:
            reasons[reason or "no reason given"].append(name)
        if cases:
            for reason, names in reasons.items():
                yield from together(test.get("name"), names, reason)
        elif test.find("skipped") is not None:
            lines = [line for line in output.splitlines() if line.strip()]
            said = [line for line in lines if "skip" in line.lower()] or lines[-1:]
            yield 1, test.get("name"), said[0].strip() if said else "no reason given"


def together(program, names, reason):
    """A line of its own for each of a few cases, one for all of many."""
    if len(names) > MANY:
        yield len(names), f"{program}: {len(names)} cases", reason
    else:
        yield from ((1, f"{program}: {name}", reason) for name in names)


def main():
    found = list(skips(sys.argv[1]))
    print(f"run: {sum(count for count, _, _ in found)} skipped")
    for _, name, reason in found:
        print(f"  {name}: {reason}")


main()
