"""Fails when a folder has no README.md, or a long one."""
import tree

MAX_LINES = 20
MIRRORS = ("runtime", "server", "client")  # below tests/: what the sources say


def main():
    exceptions = tree.Exceptions("folders")
    faults = exceptions.faults
    for folder in sorted({p.parent for p in tree.files()}):
        if folder.parts[0] == "tests" and folder.parts[1:2] and folder.parts[1] in MIRRORS:
            continue
        readme = folder / "README.md"
        if not (tree.ROOT / readme).exists():
            if not exceptions.allows(folder):
                faults.append(f"{folder}: no README.md")
        elif (lines := len(tree.read(readme).splitlines())) > MAX_LINES:
            faults.append(f"{readme}: {lines} lines, more than {MAX_LINES}")
    tree.finish("folders", faults + exceptions.unused())


main()
