"""Fails when a source file has no test of its own, or CMake does not know it."""
import pathlib
import re

import tree

# The line on which the body of a function begins that has lines of its own.
FUNCTION = re.compile(r"^(?!\s*(?:if|for|while|switch)\b)(?!\s*\}).*\)[ \w():&,]*\{$",
                      re.MULTILINE)


def needs_test(path):
    """Whether `path` is a source file, or a header with code that has none.

    A header that only declares, or defines a few functions in passing, is
    tested with those who include it.
    """
    if path.suffix == ".cc":
        return True
    if (tree.ROOT / path.with_suffix(".cc")).exists():
        return False
    return len(FUNCTION.findall(tree.read(path))) > 3


def known_to_cmake(path):
    """Whether a CMakeLists.txt in the file's folder or above it names the file.

    A folder's own list names files by name, or by stem in a foreach.
    """
    for folder in path.parents:
        lists = tree.ROOT / folder / "CMakeLists.txt"
        if lists.exists():
            text = lists.read_text(encoding="utf-8")
            stem = path.stem.removesuffix("_test")
            words = set(text.replace("(", " ").replace(")", " ").split())
            name = path.relative_to(folder).as_posix()
            return name in words or f"{stem}.cc" in words or stem in words or name in text
    return False


def main():
    exceptions = tree.Exceptions("pairs")
    faults = exceptions.faults
    for path in tree.files(".cc", ".h", under=("runtime", "server", "client")):
        test = pathlib.Path("tests", path.parent, f"{path.stem}_test.cc")
        if needs_test(path) and not (tree.ROOT / test).exists():
            if not exceptions.allows(path):
                faults.append(f"{path}: no {test}")
        if path.suffix == ".cc" and not known_to_cmake(path):
            faults.append(f"{path}: no CMakeLists.txt names it")
    for path in tree.files("_test.cc", under=("tests",)):
        if not known_to_cmake(path):
            faults.append(f"{path}: no CMakeLists.txt names it")
        inner = pathlib.Path(*path.parts[1:])
        if inner.parts[0] not in ("runtime", "server", "client"):
            continue
        source = inner.with_name(path.stem.removesuffix("_test"))
        if not any((tree.ROOT / source.with_suffix(s)).exists() for s in (".cc", ".h")):
            if not exceptions.allows(path):
                faults.append(f"{path}: tests no source file")
    tree.finish("pairs", faults + exceptions.unused())


main()
