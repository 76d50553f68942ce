"""Fails when a file includes from a folder that layers.txt does not grant it,
and when a grant is not used."""
import re

import tree

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def covering(path, folders):
    return [f for f in folders if path == f or path.startswith(f + "/")]


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
    unused = {(folder, granted) for folder, row in table.items() for granted in row[1:]}
    for path in tree.files(*tree.CODE):
        folder = path.parent.as_posix()
        rows = covering(folder, table)
        if not rows:
            faults.append(f"{path}: layers.txt has no row for {folder}")
            continue
        name = max(rows, key=len)
        for target in INCLUDE.findall(tree.read(path)):
            source, _, _ = target.rpartition("/")
            if (tree.ROOT / path.parent / target).exists() and not (tree.ROOT / target).exists():
                faults.append(f"{path}: \"{target}\" is not named from the root")
            elif source and (tree.ROOT / source).is_dir():
                granted = covering(source, table[name])
                unused -= {(name, f) for f in granted}
                if not granted:
                    faults.append(f"{path}: includes {target}")
    faults += [f"layers.txt: {folder} does not use {granted}" for folder, granted in sorted(unused)]
    tree.finish("layers", faults)


main()
