"""What the checks share: the files of the repository, and the exceptions."""
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("proto", "server", "runtime", "client", "deploy", "tests")
CODE = (".h", ".cc", ".cu", ".cuh")


def files(*suffixes, under=FOLDERS):
    """Paths relative to ROOT of our files, sorted; all files without suffixes."""
    found = []
    for top in under:
        for folder, inner, names in os.walk(ROOT / top):
            inner[:] = [d for d in inner if d != "__pycache__" and not d.startswith(".")]
            found += [pathlib.Path(folder, n).relative_to(ROOT) for n in names
                      if not suffixes or n.endswith(suffixes)]
    return sorted(found)


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


class Exceptions:
    """The lines of exceptions.txt that belong to one check.

    A line that nothing needed any more is a fault of its own.
    """

    def __init__(self, check):
        self._check = check
        self._unused = set()
        self.faults = []
        for number, line in enumerate(read("tests/presubmit/exceptions.txt").splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            rule, path, reason = (line.split(None, 2) + ["", ""])[:3]
            if rule.split(":")[0] != check:
                continue
            if not reason:
                self.faults.append(f"exceptions.txt:{number}: no reason")
            self._unused.add((rule, path))
        self._all = set(self._unused)

    def allows(self, path, detail=""):
        """Whether `path`, or a folder above it, is excepted from the rule."""
        rule = f"{self._check}:{detail}" if detail else self._check
        for candidate in (path, *path.parents):
            key = (rule, candidate.as_posix())
            if key in self._all:
                self._unused.discard(key)
                return True
        return False

    def unused(self):
        return [f"exceptions.txt: {rule} {path} is not needed any more"
                for rule, path in sorted(self._unused)]


def finish(check, faults):
    """Prints the verdict and ends the process with it."""
    print("\n".join(faults) if faults else f"{check}: OK")
    sys.exit(1 if faults else 0)
