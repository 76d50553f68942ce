"""deploy/setup with a package manager that is made up."""
import pathlib
import shutil
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
case "$*" in
  *update*) touch "$STATE/lists" ;;
  *download*) [ -e "$STATE/lists" ] && touch prometheus_1.deb || { echo "E: no lists" >&2; exit 100; } ;;
esac
case "$*" in *install*)
  for word in "$@"; do case $word in -*|install) ;; *) echo "$word" >>"$STATE/installed" ;; esac; done ;;
esac""",
    "dpkg-deb": """
echo "$*" >>"$STATE/calls"
mkdir -p unpacked/usr/bin && echo made up >unpacked/usr/bin/promtool""",
    # A virtual environment whose pip installs a program that says its name.
    "python3": """
mkdir -p "${@: -1}/bin"
cat >"${@: -1}/bin/pip" <<'PIP'
#!/bin/bash
echo "pip $*" >>"$STATE/calls"
case "$*" in *absent*) exit 1 ;; esac
PIP
chmod +x ${@: -1}/bin/pip""",
    "go": "echo go1.19",
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
        self.programs = "/usr/bin:/bin"

    def run_setup(self, *arguments, script=ROOT / "deploy/setup"):
        return subprocess.run(
            [script, *arguments], capture_output=True, text=True, check=False,
            cwd="/", stdin=subprocess.DEVNULL,
            env={"PATH": f"{self.state}:{self.programs}", "STATE": str(self.state)})

    def run_copy(self, *arguments):
        """A copy of the script, which keeps its tools beside itself."""
        script = self.state / "copy/deploy/setup"
        script.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "deploy/setup", script)
        return self.run_setup(*arguments, script=script), self.state / "copy/build/tools"

    def hide(self, name):
        """This machine's programs without one of them."""
        self.programs = self.state / "programs"
        self.programs.mkdir()
        for folder in ("/usr/bin", "/bin"):
            for program in pathlib.Path(folder).iterdir():
                link = self.programs / program.name
                if program.name != name and not link.is_symlink():
                    link.symlink_to(program)

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

    def test_promtool_comes_also_where_apt_has_no_lists(self):
        self.hide("promtool")
        result, tools = self.run_copy("--tests")
        self.assertEqual(result.returncode, 0, result.stderr)
        (self.state / "lists").unlink()
        (tools / "bin/promtool").unlink()
        before = len(self.calls())
        result, tools = self.run_copy("--tests")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((tools / "bin/promtool").exists())
        calls = [c for c in self.calls()[before:] if not c.startswith("pip")]
        self.assertEqual(calls, ["-qq download prometheus", "-qq update", "-qq download prometheus",
                                 "-x prometheus_1.deb unpacked"])

    def test_tools_have_perf_analyzer_with_the_library_it_needs(self):
        result, tools = self.run_copy("--tools")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("libb64-0d", (self.state / "installed").read_text(encoding="utf-8"))
        self.assertTrue(any("tritonclient==2.49.0 nvidia-cuda-runtime-cu12" in c for c in self.calls()))
        home = tools / "perf_analyzer"
        library = home / "lib/python3.11/site-packages/nvidia/cuda_runtime/lib"
        library.mkdir(parents=True)
        program = home / "bin/perf_analyzer"
        program.write_text('#!/bin/sh\necho "$LD_LIBRARY_PATH $*"\n', encoding="utf-8")
        program.chmod(0o755)
        said = subprocess.run([tools / "bin/perf_analyzer", "-m", "a model"], capture_output=True,
                              text=True, check=True)
        self.assertEqual(said.stdout, f"{library} -m a model\n")

    def test_refuses_an_unknown_argument(self):
        result = self.run_setup("--everything")
        self.assertEqual(result.returncode, 1)
        self.assertIn("--everything", result.stderr)
        self.assertEqual(self.calls(), [])

    def test_help_changes_nothing(self):
        result = self.run_setup("--help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("--checks", result.stdout)
        self.assertEqual(self.calls(), [])


if __name__ == "__main__":
    unittest.main()
