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
case "$*" in
  *absent*) exit 1 ;;
  *nvidia-cuda-nvcc*)
    if [ -e "$STATE/no-wheels" ]; then echo "ERROR: No matching distribution" >&2; exit 1; fi
    "$STATE/make-toolkit" "$(dirname "$0")/../lib/python3.11/site-packages/nvidia/cu13" 13000 ;;
esac
PIP
chmod +x ${@: -1}/bin/pip""",
    # make-toolkit FOLDER CUDA_VERSION: one whose compiler works while a file of it is there.
    "make-toolkit": """
mkdir -p "$1/bin" "$1/include"
touch "$1/works" "$1/include/cublasLt.h"
echo "#define CUDA_VERSION $2" >"$1/include/cuda.h"
cat >"$1/bin/nvcc" <<'NVCC'
#!/bin/bash
[ -e "$(dirname "$0")/../works" ] || { echo "nvcc: no cicc" >&2; exit 1; }
NVCC
chmod +x "$1/bin/nvcc" """,
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

    def run_setup(self, *arguments, script=ROOT / "deploy/setup", **environment):
        return subprocess.run(
            [script, *arguments], capture_output=True, text=True, check=False,
            cwd="/", stdin=subprocess.DEVNULL,
            env={"PATH": f"{self.state}:{self.programs}", "STATE": str(self.state), **environment})

    def run_copy(self, *arguments, **environment):
        """A copy of the script, which keeps its tools beside itself."""
        script = self.state / "copy/deploy/setup"
        script.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "deploy/setup", script)
        shutil.copytree(ROOT / "deploy/cmake", script.parent / "cmake", dirs_exist_ok=True)
        return self.run_setup(*arguments, script=script, **environment), self.state / "copy/build/tools"

    def need_no_toolkit(self):
        """What follows is of a machine without one."""
        if pathlib.Path("/usr/local/cuda").exists() or pathlib.Path("/usr/bin/nvcc").exists():
            self.skipTest("this machine has a CUDA toolkit")

    def toolkit(self, version):
        """A CUDA toolkit of that version, installed by somebody else."""
        folder = self.state / f"toolkit-{version}"
        subprocess.run([self.state / "make-toolkit", folder, str(version)], check=True)
        return folder

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

    def test_cuda_takes_the_toolkit_that_is_installed(self):
        toolkit = self.toolkit(12040)
        result, _ = self.run_copy("--cuda", CUDA_HOME=str(toolkit))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(f"CUDA toolkit 12.4 in {toolkit}", result.stdout)
        self.assertFalse(any(call.startswith("pip") for call in self.calls()))

    def test_cuda_installs_packages_once_where_no_toolkit_will_do(self):
        self.need_no_toolkit()
        old = self.toolkit(12030)
        result, _ = self.run_copy("--cuda", CUDA_HOME=str(old))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(f"{old} is passed over: it is CUDA 12.3", result.stderr)
        self.assertRegex(result.stdout, r"CUDA toolkit 13.0 in .*/build/cuda/lib/python3.11/"
                                        r"site-packages/nvidia/cu13\n")
        before = self.calls()
        self.assertTrue(any("--no-deps" in call and "nvidia-cublas" in call for call in before))
        result, _ = self.run_copy("--cuda")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.calls(), before)

    def test_cuda_repairs_packages_that_do_not_compile(self):
        self.need_no_toolkit()
        self.run_copy("--cuda")
        works = self.state / "copy/build/cuda/lib/python3.11/site-packages/nvidia/cu13/works"
        works.unlink()
        result, _ = self.run_copy("--cuda")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("compiles no kernel", result.stdout)
        self.assertTrue(works.exists())

    def test_cuda_fails_with_the_reason(self):
        self.need_no_toolkit()
        (self.state / "no-wheels").touch()
        result, _ = self.run_copy("--cuda")
        self.assertEqual(result.returncode, 1)
        self.assertIn("No matching distribution", result.stderr)
        self.assertEqual(result.stderr.splitlines()[-1],
                         "setup: missing, and pip could not install: the CUDA toolkit")
        broken = self.toolkit(12080)
        (broken / "works").unlink()
        (self.state / "no-wheels").unlink()
        result, _ = self.run_copy("--cuda", CUDA_HOME=str(broken))
        self.assertEqual(result.returncode, 1)
        self.assertIn("nvcc: no cicc", result.stderr)
        self.assertEqual(result.stderr.splitlines()[-1], f"setup: the CUDA toolkit in {broken} compiles no kernel")

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
    unittest.main(verbosity=2)
