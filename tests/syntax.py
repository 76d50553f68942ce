"""Compiles files without writing objects: python3 syntax.py BUILD JOBS FOLDER...

Takes the commands of BUILD/compile_commands.json for the files below each
FOLDER and runs them with -fsyntax-only: all warnings of that compiler, none of
the cost of code. Fails if one of them does.
"""
import concurrent.futures
import json
import pathlib
import shlex
import subprocess
import sys


def command_of(entry):
    words = shlex.split(entry["command"])
    at = words.index("-o")
    return words[:at] + words[at + 2:] + ["-fsyntax-only"]


def compile_one(entry):
    done = subprocess.run(command_of(entry), cwd=entry["directory"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    return entry["file"], done.returncode, done.stdout


def main():
    build, jobs = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    folders = [str(pathlib.Path(f).resolve()) + "/" for f in sys.argv[3:]]
    entries = [e for e in json.loads((build / "compile_commands.json").read_text())
               if any(e["file"].startswith(f) for f in folders)]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for file, code, output in pool.map(compile_one, entries):
            if code != 0 or output:
                print(f"{file}\n{output}", flush=True)
            failed += code != 0
    print(f"syntax: {len(entries)} files, {failed} failed")
    return 1 if failed or not entries else 0


sys.exit(main())
