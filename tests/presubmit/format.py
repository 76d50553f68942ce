"""Fails when clang-format 14 would change a file; skipped (77) without it."""
import shutil
import subprocess
import sys

import tree


def clang_format():
    for name in ("clang-format-14", "clang-format"):
        if shutil.which(name):
            version = subprocess.run([name, "--version"], capture_output=True, text=True,
                                     check=True).stdout
            if "version 14." in version:
                return name
    return None


def main():
    program = clang_format()
    if program is None:
        print("SKIPPED: no clang-format 14 here (deploy/setup --sanitizers)")
        sys.exit(77)
    paths = [str(p) for p in tree.files(*tree.CODE)]
    run = subprocess.run([program, "--dry-run", "-Werror", *paths], cwd=tree.ROOT,
                         capture_output=True, text=True, check=False)
    bad = sorted({line.split(":")[0] for line in run.stderr.splitlines() if "error:" in line})
    if run.returncode != 0 and not bad:
        bad = [run.stderr.strip()]
    tree.finish("format", [f"{path}: run {program} -i on it" for path in bad])


main()
