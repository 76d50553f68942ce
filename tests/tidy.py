"""clang-tidy over many files: python3 tidy.py BUILD JOBS FOLDER...

Takes the commands of BUILD/compile_commands.json for the sources below each
FOLDER. Nearly all of clang-tidy's time goes into the headers of libraries, so
files of one folder that declare no name twice are read as one: a source that
includes them. Where such a source does not compile, its files are read one by
one. Fails on any finding.
"""
import collections
import concurrent.futures
import pathlib
import re
import subprocess
import sys

import compile_commands

GROUP = 12  # files at most: memory, and work for every core
# They forbid what such a source does, or follow calls from one file into the next.
NOT_TOGETHER = "-bugprone-suspicious-include,-bugprone-exception-escape"
OPEN, CLOSE = "namespace {", "}  // namespace"
TYPE = re.compile(r"^(?:template\b.*>\s*)?(?:class|struct|union|enum class|enum)\s+(\w+)")
ALIAS = re.compile(r"^using\s+(\w+)\s*=")
NAME = re.compile(r"^[^()={;\[]*?(?<!::)\b(\w+)\s*(?:\(|=|\{|\[|;)")
MACRO = re.compile(r"^#define\s+(\w+)")


def declared(path):
    """Names that a file declares for itself: in an unnamed namespace, or as a macro.

    They are found where a line of Google style starts with them.
    """
    names, inside = set(), False
    for line in path.read_text().splitlines():
        if line in (OPEN, CLOSE):
            inside = line == OPEN
            continue
        patterns = (TYPE, ALIAS, NAME) if inside and re.match(r"[A-Za-z]", line) else (MACRO,)
        match = next(filter(None, (p.match(line) for p in patterns)), None)
        if match:
            names.add(match[1])
    return names


def arguments(entry):
    """The compiler's arguments without those that name input and output."""
    words = [w for w in compile_commands.words(entry)[1:] if w not in (entry["file"], "-c")]
    pairs = re.sub(r"-isystem ", "-isystem=", " ".join(words)).split(" ")
    return [pair.replace("-isystem=", "-isystem") for pair in pairs]


def grouped(entries):
    """Lists of files of one folder that declare different names, each with the arguments of all of them."""
    folders = collections.defaultdict(list)
    for entry in entries:
        folders[pathlib.Path(entry["file"]).parent].append(entry)
    for files in folders.values():
        args = list(dict.fromkeys(word for entry in files for word in arguments(entry)))
        groups = []
        for entry in files:
            names = declared(pathlib.Path(entry["file"]))
            for group, taken in groups:
                if len(group) < GROUP and not names & taken:
                    group.append(entry)
                    taken |= names
                    break
            else:
                groups.append(([entry], names))
        yield from ((group, args) for group, _ in groups)


def tidy(file, args, directory, *options):
    command = ["clang-tidy-14", "--quiet", *options, file, "--", *args]
    done = subprocess.run(command, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    noise = re.compile(r"^\d+ warnings? generated|^Suppressed |^Use -header-filter|^Use -system-headers")
    errors = "\n".join(line for line in done.stderr.splitlines() if line and not noise.match(line))
    return done.returncode, done.stdout + errors


def check(job):
    build, number, (group, args) = job
    directory = group[0]["directory"]
    if len(group) > 1:
        together = build / f"tidy_{number}.cc"
        together.write_text("".join(f'#include "{entry["file"]}"\n' for entry in group))
        code, output = tidy(str(together), args, directory, f"--checks={NOT_TOGETHER}")
        if "[clang-diagnostic-error]" not in output:
            return [entry["file"] for entry in group], code, output, False
    results = [tidy(entry["file"], args, directory) for entry in group]
    return ([entry["file"] for entry in group], max(code for code, _ in results),
            "".join(output for _, output in results), len(group) > 1)


def main():
    build, jobs = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2])
    # Kernels are C++ only for the tests' emulator, by a header that it puts before them.
    entries = [entry for entry in compile_commands.entries(build, sys.argv[3:]) if not entry["file"].endswith(".cu")]
    groups = sorted(grouped(entries), key=lambda group: len(group[0]), reverse=True)
    failed = apart = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for files, code, output, split in pool.map(check, [(build, i, group) for i, group in enumerate(groups)]):
            if code != 0 or output:
                print(f"{' '.join(files)}\n{output}", flush=True)
            failed += code != 0
            apart += len(files) if split else 0
    print(f"tidy: {len(entries)} files in {len(groups)} groups, {apart} of them apart, {failed} groups with findings")
    return 1 if failed or not entries else 0


sys.exit(main())
