"""Compiles files without writing objects: python3 syntax.py BUILD JOBS FOLDER...

Takes the commands of BUILD/compile_commands.json for the files below each
FOLDER and runs them with -fsyntax-only: all warnings of that compiler, none of
the cost of code. Fails if one of them does.
"""
import concurrent.futures
import subprocess
import sys

import compile_commands


def compile_one(entry):
    done = subprocess.run([*compile_commands.words(entry), "-fsyntax-only"], cwd=entry["directory"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    return entry["file"], done.returncode, done.stdout


def main():
    jobs = int(sys.argv[2])
    entries = compile_commands.entries(sys.argv[1], sys.argv[3:])
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for file, code, output in pool.map(compile_one, entries):
            if code != 0 or output:
                print(f"{file}\n{output}", flush=True)
            failed += code != 0
    print(f"syntax: {len(entries)} files, {failed} failed")
    return 1 if failed or not entries else 0


sys.exit(main())
