"""Fails when a page names a file or folder of the repository that is not there."""
import itertools
import pathlib
import re

import tree

PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")
QUOTED = re.compile(r"`([^`\s]+)`")
BRACES = re.compile(r"\{([^{}]*)\}")


def expanded(path):
    """a.{h,cc} -> a.h and a.cc."""
    parts = BRACES.split(path)
    choices = [p.split(",") if i % 2 else [p] for i, p in enumerate(parts)]
    return ["".join(choice) for choice in itertools.product(*choices)]


def main():
    pages = [pathlib.Path(p) for p in PAGES] + tree.files("README.md")
    faults = []
    for page in pages:
        for word in QUOTED.findall(tree.read(page)):
            if ".pb." in word or word.split("/")[0] not in tree.FOLDERS or "/" not in word or "*" in word:
                continue
            faults += [f"{page}: there is no {path}" for path in expanded(word)
                       if not (tree.ROOT / path).exists()]
    tree.finish("docs", faults)


main()
