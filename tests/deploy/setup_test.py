"""deploy/setup with a package manager that is made up."""
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
STUBS = {
    # Packages are installed once the stub of apt-get has put them into a file.
    "dpkg-query": 'grep -qx "${@: -1}" "$STATE/installed" && printf "ii "',
    "id": "echo 0",
    "apt-get": """
echo "$*" >>"$STATE/calls"
for word in "$@"; do
  case $word in
    -*|install|update) ;;
    libonnx-dev) if [ -e "$STATE/no-onnx" ]; then echo "E: Unable to locate package libonnx-dev" >&2; exit 100; fi ;;
  esac
done
case "$*" in *install*)
  for word in "$@"; do case $word in -*|install) ;; *) echo "$word" >>"$STATE/installed" ;; esac; done ;;
esac""",
}


class SetupTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.state = pathlib.Path(folder.name)
        for name, body in STUBS.items():
            stub = self.state / name
            stub.write_text(f"#!/bin/bash\n{body}\n", encoding="utf-8")
            stub.chmod(0o755)
        (self.state / "installed").touch()

    def run_setup(self, *arguments):
        return subprocess.run(
            [ROOT / "deploy/setup", *arguments], capture_output=True, text=True, check=False,
            cwd="/", stdin=subprocess.DEVNULL,
            env={"PATH": f"{self.state}:/usr/bin:/bin", "STATE": str(self.state)})

    def calls(self):
        path = self.state / "calls"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    def test_installs_what_is_missing_and_then_nothing(self):
        first = self.run_setup()
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertIn("libgrpc++-dev", first.stdout)
        self.assertIn("--no-install-recommends", self.calls()[-1])
        before = self.calls()
        second = self.run_setup()
        self.assertEqual(second.returncode, 0, second.stderr)
        self.assertIn("are installed", second.stdout)
        self.assertEqual(self.calls(), before)

    def test_asks_only_for_what_is_missing(self):
        self.run_setup()
        installed = self.state / "installed"
        rest = [p for p in installed.read_text(encoding="utf-8").split() if p != "cmake"]
        installed.write_text("\n".join(rest) + "\n", encoding="utf-8")
        self.run_setup()
        self.assertEqual(self.calls()[-1].split()[-1], "cmake")
        self.assertNotIn("ninja-build", self.calls()[-1])

    def test_fails_with_the_name_of_what_is_missing(self):
        (self.state / "no-onnx").touch()
        result = self.run_setup()
        self.assertEqual(result.returncode, 1)
        self.assertIn("libonnx-dev", result.stderr.splitlines()[-1])
        self.assertIn("Unable to locate", result.stderr)

    def test_refuses_an_unknown_argument(self):
        result = self.run_setup("--everything")
        self.assertEqual(result.returncode, 1)
        self.assertIn("--everything", result.stderr)
        self.assertEqual(self.calls(), [])

    def test_help_changes_nothing(self):
        result = self.run_setup("--help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("--sanitizers", result.stdout)
        self.assertEqual(self.calls(), [])


if __name__ == "__main__":
    unittest.main()
