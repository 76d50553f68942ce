"""Fails when clang-format 14 would change a file, or a line of Python is too long.

Skipped (77) without clang-format, unless there is a fault.
"""
import shutil
import subprocess
import sys

import tree

PYTHON_COLUMNS = 120


def clang_format():
    for name in ("clang-format-14", "clang-format"):
        if shutil.which(name):
            version = subprocess.run([name, "--version"], capture_output=True, text=True,
                                     check=True).stdout
            if "version 14." in version:
                return name
    return None


def long_lines():
    return [f"{path}:{number}: {len(line)} columns, at most {PYTHON_COLUMNS}"
            for path in tree.files(".py")
            for number, line in enumerate(tree.read(path).splitlines(), 1)
            if len(line) > PYTHON_COLUMNS]


def unformatted(program):
    paths = [str(p) for p in tree.files(*tree.CODE)]
    run = subprocess.run([program, "--dry-run", "-Werror", *paths], cwd=tree.ROOT,
                         capture_output=True, text=True, check=False)
    bad = sorted({line.split(":")[0] for line in run.stderr.splitlines() if "error:" in line})
    if run.returncode != 0 and not bad:
        bad = [run.stderr.strip()]
    return [f"{path}: run {program} -i on it" for path in bad]


def main():
    program = clang_format()
    faults = long_lines() + (unformatted(program) if program else [])
    if program is None and not faults:
        print("SKIPPED: no clang-format 14 here (deploy/setup --tests)")
        sys.exit(77)
    tree.finish("format", faults)


main()
