"""Fails when a word stands where words.txt says that it does not belong."""
import pathlib
import re

import tree

COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*")', re.S)
TOP = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CMakeLists.txt",
       "CMakePresets.json", "Dockerfile")
BINARY = (".onnx", ".png", ".jpg", ".npy", ".pyc", ".bin", ".safetensors", ".pb")


def rules():
    for line in tree.read("tests/presubmit/words.txt").splitlines():
        if line.strip() and not line.startswith("#"):
            # The expression may hold bars of its own: split from both ends.
            name, folders, rest = line.split(" | ", 2)
            expression, _, why = rest.rpartition(" | ")
            yield name.strip(), folders.split(), re.compile(expression.strip(), re.M), why


def without_comments(text):
    """The code, strings kept, with as many lines as before."""
    return COMMENT.sub(lambda m: m.group(1) or "\n" * m.group(0).count("\n"), text)


def main():
    exceptions = tree.Exceptions("words")
    faults = exceptions.faults
    everything = [p for p in tree.files() if not p.name.endswith(BINARY)]
    everything += [pathlib.Path(n) for n in TOP if (tree.ROOT / n).exists()]
    texts = {p: tree.read(p) for p in everything}
    code = {p: without_comments(t) for p, t in texts.items() if p.suffix in tree.CODE}
    for name, folders, expression, why in rules():
        whole = folders == ["all"]
        for path, text in (texts if whole else code).items():
            if not whole and path.parts[0] not in folders:
                continue
            matches = list(expression.finditer(text))
            if not matches or exceptions.allows(path, name):
                continue
            for match in matches:
                line = text.count("\n", 0, match.start()) + 1
                faults.append(f"{path}:{line}: [{name}] '{match.group(0).strip()}': {why}")
    tree.finish("words", faults + exceptions.unused())


main()
