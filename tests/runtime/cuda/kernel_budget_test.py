"""kernel_budget_test.py REPORT...: what ptxas -v said of every kernel, held to a budget.

A launch has 256 threads a block and counts on four blocks a multiprocessor, whose 65,536 registers allow each thread
64. A stack frame or a spill is memory traffic in every thread: which kernels may have some, and how much, is the table
of allowances. A report that names no kernel, or says of one less than all of this, is a fault.
"""
import pathlib
import re
import sys

REGISTERS = 65536 // (4 * 256)
SHARED = 16 * 1024  # bytes, static

# (kernels, bytes of stack, bytes of spill stores and loads); the first that matches counts.
ALLOWANCES = (
    (re.compile(r"_gather_"), 0, 0),  # INT64 is what its indices mostly are
    (re.compile(r"_(sin|cos|tan)_"), 48, 0),  # the table that reduces large arguments
    (re.compile(r"_(f64|i64|u64)(_|$)"), 48, 128),  # 8-byte elements are for completeness, not for speed
    (re.compile(r""), 0, 0),
)

ENTRY = re.compile(r"Compiling entry function '(\w+)' for '(\w+)'")
FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers")
STATIC = re.compile(r"(\d+) bytes smem")
COLUMNS = ("registers", "stack", "spills", "shared")


def kernels(report):
    """(kernel, architecture, usage by COLUMNS) of each that a report tells of; None for usage that it does not tell."""
    told = []
    for line in report.splitlines():
        if match := ENTRY.search(line):
            told.append((*match.groups(), dict.fromkeys(COLUMNS)))
        elif told and (match := FRAME.search(line)) and told[-1][2]["stack"] is None:
            stack, stores, loads = map(int, match.groups())
            told[-1][2].update(stack=stack, spills=stores + loads)
        elif told and (match := USED.search(line)):
            shared = STATIC.search(line)
            told[-1][2].update(registers=int(match[1]), shared=int(shared[1]) if shared else 0)
    return told


def faults(kernel, arch, used):
    stack, spills = next(allowed[1:] for allowed in ALLOWANCES if allowed[0].search(kernel))
    for what, most in zip(COLUMNS, (REGISTERS, stack, spills, SHARED)):
        if used[what] is None:
            yield f"{kernel} for {arch}: the report does not tell its {what}"
        elif used[what] > most:
            yield f"{kernel} for {arch}: {what} {used[what]}, budget {most}"


def row(name, arch, told):
    """A line of the table: the most of each column, and whose it is."""
    cells = []
    for what in COLUMNS:
        most = max((used[what] or 0, kernel) for kernel, _, used in told)
        cells.append(f"{most[0]:>4} {most[1].removeprefix('reprise_') if most[0] else '':<22}")
    return f"{name:<14} {arch:<6} {len(told):>7}  {' '.join(cells)}".rstrip()


def main(paths):
    found = [] if paths else ["no report is named"]
    print(f"{'file':<14} {'for':<6} {'kernels':>7}  {' '.join(f'most {what}'.ljust(27) for what in COLUMNS)}".rstrip())
    for path in map(pathlib.Path, paths):
        told = kernels(path.read_text(encoding="utf-8"))
        if not told:
            found.append(f"{path.name}: no kernel is told of")
        for arch in sorted({arch for _, arch, _ in told}):
            print(row(path.stem, arch, [one for one in told if one[1] == arch]))
        found += [fault for one in told for fault in faults(*one)]
    print("\n".join(found) or "all within their budgets")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
