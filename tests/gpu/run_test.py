"""tests/gpu/run over a bundle that is made up: what it runs, what it says of it, and how it ends."""
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent / "run"
PASSES = 'echo "[  PASSED  ] 3 tests."; echo "[  SKIPPED ] 1 test, listed below:"'
SKIPS = 'echo "a.cc:1: Skipped"; echo "no such library"; echo "[  PASSED  ] 0 tests."'


class RunTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.bundle = self.folder / "a bundle"
        self.lines = []
        (self.bundle / "tests/gpu").mkdir(parents=True)
        (self.bundle / "VERSION").write_text("reprised 0.1.0\n", encoding="utf-8")
        self.libraries = self.folder / "libraries"
        self.libraries.mkdir()
        (self.libraries / "libcuda.so.1").touch()
        self.program("../programs/nvidia-smi", 'echo "0, A card, 580.1, 81559 MiB"')
        self.program("../programs/compute-sanitizer", """
echo "checked $*"
while [ "${1#-}" != "$1" ]; do case $1 in --*) shift 2 ;; esac; done
"$@" """)
        (self.bundle / "tests/gpu/make_models.py").write_text("print('no onnx here')\nraise SystemExit(77)\n",
                                                             encoding="utf-8")

    def program(self, path, body):
        path = self.bundle / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/bash\n{body}\n", encoding="utf-8")
        path.chmod(0o755)

    def add(self, kind, name, body, *arguments, seconds=50):
        self.program(f"tests/{name}", body)
        self.lines.append(" ".join([kind, str(seconds), f"tests/{name}", *arguments]))

    def run_it(self, *arguments, path="/usr/bin:/bin"):
        (self.bundle / "bundle.txt").write_text("".join(f"{line}\n" for line in ["program bin/reprised", *self.lines]),
                                                encoding="utf-8")
        return subprocess.run([SCRIPT, *arguments, f"--logs={self.folder}/logs", self.bundle], capture_output=True,
                              text=True, check=False, cwd=self.folder, stdin=subprocess.DEVNULL, timeout=60,
                              env={"PATH": f"{self.folder}/programs:{path}", "LD_LIBRARY_PATH": str(self.libraries),
                                   "TMPDIR": str(self.folder)})

    def table(self, result):
        """Name, verdict and note of each line of the table."""
        lines = result.stdout.splitlines()
        start = next(i for i, line in enumerate(lines) if line.startswith("name ")) + 1
        return [(line[:46].strip(), line[46:55].strip(), line[61:].strip()) for line in lines[start:]]

    def test_runs_tests_then_memcheck_then_benchmarks_and_prints_a_table(self):
        self.add("bench", "a_bench", 'echo "42 microseconds"; exit 0')
        self.add("memcheck", "one_test", PASSES, "--gtest_filter=*/a*:*/b")
        self.add("test", "one_test", PASSES)
        self.add("test", "two_test", SKIPS)
        result = self.run_it()
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(self.table(result), [
            ("one_test", "ok", "3 cases, 1 skipped"), ("two_test", "skipped", "no such library"),
            ("one_test (memcheck)", "ok", "3 cases, 1 skipped"), ("a_bench (bench)", "ok", "")])
        for words in ("A card, 580.1", "reprised 0.1.0", "no onnx here", "42 microseconds"):
            self.assertIn(words, result.stdout)
        self.assertIn("--gtest_filter=*/a*:*/b", (self.folder / "logs/one_test_memcheck.log").read_text())

    def test_a_failure_is_shown_and_is_the_status(self):
        self.add("test", "bad_test", 'echo "[ RUN      ] A.B"; echo "Expected: 1"; exit 1')
        self.add("test", "good_test", PASSES)
        self.add("test", "slow_test", "exec tail -f /dev/null", seconds=1)
        result = self.run_it()
        self.assertEqual(result.returncode, 1)
        self.assertEqual(self.table(result), [
            ("bad_test", "FAILED", "status 1"), ("good_test", "ok", "3 cases, 1 skipped"),
            ("slow_test", "FAILED", "out of time")])
        self.assertIn("Expected: 1", result.stdout)
        self.assertNotIn("RUN ", result.stdout)

    def test_what_is_not_wanted_is_left_out(self):
        self.add("test", "one_test", PASSES)
        self.add("test", "two_test", PASSES)
        self.add("memcheck", "one_test", PASSES)
        self.add("bench", "one_bench", "exit 0")
        self.assertEqual([row[0] for row in self.table(self.run_it("--no-sanitizer", "--no-bench"))],
                         ["one_test", "two_test"])
        self.assertEqual([row[0] for row in self.table(self.run_it("--only=^one_(test|bench)"))],
                         ["one_test", "one_test (memcheck)", "one_bench (bench)"])
        result = self.run_it("--only=three")
        self.assertEqual(result.returncode, 1)
        self.assertIn("matches three", result.stderr)

    def test_a_device_that_the_sanitizer_does_not_know_is_a_skip(self):
        self.add("test", "one_test", PASSES)
        self.add("memcheck", "two_test", "echo '========= Error: Device not supported'; exit 255")
        result = self.run_it()
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertEqual(self.table(result)[-1][:2], ("two_test (memcheck)", "skipped"))

    def test_without_a_gpu_it_is_a_skip(self):
        self.add("test", "one_test", SKIPS)
        result = self.run_it()
        self.assertEqual((result.returncode, result.stderr), (77, "run: skipped: no GPU: no test could use one\n"))
        self.program("../programs/nvidia-smi", "exit 9")
        result = self.run_it()
        self.assertEqual((result.returncode, result.stderr), (77, "run: skipped: no GPU: nvidia-smi lists none\n"))
        if subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=False,
                          env={"PATH": "/usr/sbin:/sbin:/usr/bin"}).stdout.count("libcuda.so.1"):
            self.skipTest("this machine has a driver")
        (self.libraries / "libcuda.so.1").unlink()
        result = self.run_it()
        self.assertEqual(result.returncode, 77)
        self.assertIn("libcuda.so.1 is not installed", result.stderr)

    def test_refuses_what_it_does_not_know(self):
        for arguments, words in ((["--fast"], "--fast"), ([self.folder], "no bundle in")):
            with self.subTest(words):
                result = subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, check=False)
                self.assertEqual(result.returncode, 1)
                self.assertIn(words, result.stderr)
        said = subprocess.run([SCRIPT, "--help"], capture_output=True, text=True, check=False)
        self.assertEqual(said.returncode, 0)
        self.assertIn("--no-sanitizer", said.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
