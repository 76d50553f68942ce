"""Prints what is over the size budgets. Never fails: a long file is a reason to
look for the second idea in it, not a fault."""
import re
import statistics

import tree

FILE_LINES, TEST_FILE_LINES, FUNCTION_LINES = 500, 800, 60
OPENING = re.compile(r"\).*\{$")
NOT_FUNCTIONS = re.compile(r"^\s*\}|\b(namespace|class|struct|enum|union|switch|if|for|while|else|do)\b|= \{|\] ?\(")
STATEMENT_END = (";", "{", "}", ":", "*/")


def signature_start(lines, at):
    """The first line of the statement that line `at` is the end of."""
    while at > 0 and lines[at - 1].strip() and not lines[at - 1].endswith(STATEMENT_END) \
            and not lines[at - 1].lstrip().startswith(("//", "#")):
        at -= 1
    return at


def functions(lines):
    """(first line, length) of blocks that look like function bodies."""
    at = 0
    while at < len(lines):
        if OPENING.search(lines[at]):
            start = signature_start(lines, at)
            closing = re.match(" *", lines[start]).group() + "}"
            end = next((i for i in range(at + 1, len(lines)) if lines[i] == closing), None)
            if end is not None and not NOT_FUNCTIONS.search(" ".join(lines[start:at + 1])):
                yield start + 1, end - start + 1
                at = end
        at += 1


def main():
    lengths, bodies = [], []
    for path in tree.files(*tree.CODE):
        lines = tree.read(path).splitlines()
        lengths.append(len(lines))
        budget = TEST_FILE_LINES if path.parts[0] == "tests" else FILE_LINES
        if len(lines) > budget:
            print(f"{path}: {len(lines)} lines, budget {budget}")
        for line, length in functions(lines):
            bodies.append(length)
            if length > FUNCTION_LINES and not lines[line - 1].startswith(("TEST", "INSTANTIATE")):
                print(f"{path}:{line}: a function of {length} lines, budget {FUNCTION_LINES}")
    if lengths and bodies:
        def p95(values):
            return sorted(values)[int(0.95 * (len(values) - 1))]
        print(f"files: {len(lengths)}, median {statistics.median(lengths):.0f} lines, "
              f"95th percentile {p95(lengths)}, longest {max(lengths)}")
        print(f"functions: {len(bodies)}, median {statistics.median(bodies):.0f} lines, "
              f"95th percentile {p95(bodies)}, longest {max(bodies)}")


main()
