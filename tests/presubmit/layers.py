"""Fails when a file includes from a folder that layers.txt does not grant it."""
import re

import tree

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def inside(path, folders):
    return any(path == f or path.startswith(f + "/") for f in folders)


def grants():
    table = {}
    for line in tree.read("tests/presubmit/layers.txt").splitlines():
        if line.strip() and not line.startswith("#"):
            folder, _, granted = line.partition(":")
            table[folder] = [folder, *granted.split()]
    return table


def main():
    table = grants()
    faults = [f"layers.txt: there is no folder {f}" for f in table
              if not (tree.ROOT / f).is_dir()]
    for path in tree.files(*tree.CODE):
        folder = path.parent.as_posix()
        rows = [f for f in table if inside(folder, [f])]
        if not rows:
            faults.append(f"{path}: layers.txt has no row for {folder}")
            continue
        row = table[max(rows, key=len)]
        for target in INCLUDE.findall(tree.read(path)):
            source, _, _ = target.rpartition("/")
            if (tree.ROOT / path.parent / target).exists() and not (tree.ROOT / target).exists():
                faults.append(f"{path}: \"{target}\" is not named from the root")
            elif source and (tree.ROOT / source).is_dir() and not inside(source, row):
                faults.append(f"{path}: includes {target}")
    tree.finish("layers", faults)


main()
