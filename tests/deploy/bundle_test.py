"""deploy/bundle over a build that is made up, and over this one: bundle_test.py BUILD."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = None
OF_THE_C_LIBRARY = re.compile(r"(ld-linux.*|lib(c|m|mvec|dl|rt|pthread|resolv))\.so\.\d+$")


def bundle(*arguments):
    return subprocess.run([ROOT / "deploy/bundle", *arguments], capture_output=True, text=True, check=False,
                          cwd="/", stdin=subprocess.DEVNULL, timeout=170)


def loaded(program):
    """The libraries that a program loads with an empty environment, by name."""
    said = subprocess.run(["/usr/bin/ldd", program], capture_output=True, text=True, check=True, env={})
    paths = [pathlib.Path(line.split(" => ")[-1].rsplit(" (", 1)[0].strip())
             for line in said.stdout.splitlines() if "/" in line]
    return {path.name: path for path in paths}


class FolderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "out"


class MadeUpBuildTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.build = self.folder / "build"
        (self.build / "bin").mkdir(parents=True)
        shutil.copy("/bin/true", self.build / "bin/reprised")
        (self.build / "CMakeCache.txt").write_text("REPRISE_DEVICES:INTERNAL=CPU, CUDA 12.4\n", encoding="utf-8")
        self.list("program bin/reprised", "test 60 bin/reprised")

    def list(self, *lines):
        (self.build / "bundle.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    def run_bundle(self):
        return bundle(f"--build={self.build}", self.out)

    def test_makes_a_folder_and_an_archive_of_the_same(self):
        self.list("program bin/reprised", "file tests/gpu/run", "test 60 bin/reprised")
        result = self.run_bundle()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("CPU, CUDA 12.4", result.stdout)
        for path in ("bin/reprised", "tests/gpu/run", "deploy/models/simple/1/model.onnx", "bundle.txt", "VERSION"):
            self.assertTrue((self.out / path).is_file(), path)
        self.assertTrue(os.access(self.out / "tests/gpu/run", os.X_OK))
        with tarfile.open(f"{self.out}.tar.xz") as archive:
            packed = {member.name for member in archive if member.isfile()}
        there = {str(path.relative_to(self.folder)) for path in self.out.rglob("*") if path.is_file()}
        self.assertEqual(packed, there)

    def test_replaces_a_bundle_and_nothing_else(self):
        self.assertEqual(self.run_bundle().returncode, 0)
        (self.out / "lib/old.so").touch()
        self.assertEqual(self.run_bundle().returncode, 0)
        self.assertFalse((self.out / "lib/old.so").exists())
        (self.out / "bundle.txt").unlink()
        result = self.run_bundle()
        self.assertEqual(result.returncode, 1)
        self.assertIn("is no bundle", result.stderr)
        self.assertTrue((self.out / "VERSION").exists())

    def test_more_than_the_limit_is_a_failure(self):
        large = self.folder / "large"
        large.write_bytes(os.urandom(30_000_001))
        self.list("program bin/reprised", f"file {large}", "test 60 bin/reprised")
        result = self.run_bundle()
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertRegex(result.stderr, r"30\d{6} bytes compressed are more than")

    def test_says_what_is_missing_and_leaves_nothing(self):
        for lines, words in (((), "no GPU tests"), (("program bin/reprised",), "CPU, CUDA 12.4"),
                             (("program bin/absent", "test 60 bin/absent"), "bin/absent is not built")):
            with self.subTest(words):
                self.list(*lines)
                result = self.run_bundle()
                self.assertEqual(result.returncode, 1)
                self.assertIn(words, result.stderr)
                self.assertEqual(list(self.folder.glob("out*")), [])

    def test_refuses_what_it_does_not_know(self):
        for arguments, words in ((["--fast"], "--fast"), (["a", "b"], "more than one"),
                                 ([f"--build={self.folder}", self.out], "is no build"),
                                 ([f"--build={self.build}", "--all-archs", self.out], "exclude")):
            with self.subTest(words):
                result = bundle(*arguments)
                self.assertEqual(result.returncode, 1)
                self.assertIn(words, result.stderr)
        self.assertIn("--all-archs", bundle("--help").stdout)


class ThisBuildTest(FolderTest):
    def test_runs_from_wherever_it_is_moved(self):
        if "\ntest " not in (BUILD / "bundle.txt").read_text(encoding="utf-8"):
            self.skipTest("this build has no CUDA device")
        result = bundle(f"--build={BUILD}", self.out)
        self.assertEqual(result.returncode, 0, result.stderr)
        moved = self.folder / "else where"
        self.out.rename(moved)
        said = subprocess.run([moved / "bin/reprised", "--version"], capture_output=True, text=True, check=False,
                              env={"LD_LIBRARY_PATH": ""}, cwd="/", timeout=60)
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertRegex(said.stdout, r"^reprised \d")
        programs = [path for folder in ("bin", "tests") for path in (moved / folder).iterdir() if path.is_file()]
        self.assertGreaterEqual(len(programs), 3)
        for program in programs:
            for name, path in loaded(program).items():
                if not OF_THE_C_LIBRARY.match(name):
                    self.assertEqual(path.parent.resolve(), (moved / "lib").resolve(), f"{program.name}: {name}")
        foreign = [path.name for path in (moved / "lib").iterdir()
                   if OF_THE_C_LIBRARY.match(path.name) or re.match("lib(cuda|cublas|cudnn|nv)", path.name)]
        self.assertEqual(foreign, [])


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
