"""Asks `reprised` the catalogue of requests that Triton was asked, and judges what it answers.

    run_catalogue.py --daemon build/release/tests/reprised_delayed --catalogue ../shared/conformance [--keep FOLDER]

The catalogue (answers.py, make_models.py, triton-answers.json) lies beside the checkout; where it does not, or a Python
package is missing, this exits with 77, which ctest reports as skipped. --keep leaves the answers and the texts in
FOLDER.
"""
import argparse
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE), str(ROOT / "tests" / "clients")]
sys.dont_write_bytecode = True

import compare  # noqa: E402
from daemon import Daemon  # noqa: E402

SKIPPED = 77
SPACED = "queue/"
PACKAGES = ("grpc", "numpy", "tritonclient.grpc", "onnx")
DELAY = ["--test-delay=slow=200ms", "--test-delay=queued=200ms"]
MODES = {
    "none": [],
    "explicit": ["--model-control-mode=explicit", "--load-model=id_int32", "--load-model=id_fp32",
                 "--load-model=simple"],
}
QUEUED = """dynamic_batching {
  priority_levels: 2 default_priority_level: 1
  default_queue_policy { max_queue_size: 1 default_timeout_microseconds: 100000 allow_timeout_override: true }
}
"""


def missing_package():
    for name in PACKAGES:
        try:
            if importlib.util.find_spec(name) is None:
                return name
        except ModuleNotFoundError:
            return name
    return None


def make_models(catalogue, out):
    """The catalogue's models, and the two that it leaves to a test-only delay."""
    subprocess.run([sys.executable, catalogue / "make_models.py", out], check=True)
    for name, more in (("slow", ""), ("queued", QUEUED)):
        shutil.copytree(out / "id_int32", out / name)
        config = (out / "id_int32" / "config.pbtxt").read_text().replace("id_int32", name)
        (out / name / "config.pbtxt").write_text(config + more)


def ask(a, mode, repository, out, *more):
    with Daemon(a.daemon, repository, *DELAY, *MODES[mode]) as daemon:
        command = [sys.executable, a.catalogue / "answers.py", daemon.address, out / "answers.json", "--mode", mode,
                   "--repository-name", repository.name, "--texts", out / f"texts-{mode}.json", *more]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        print(f"mode {mode}: {done.stdout.strip()}")
        if done.returncode != 0 or daemon.process.poll() is not None:
            print(daemon.log)
            sys.exit(f"asking failed in mode {mode}")


def judge(a, out):
    answers = json.loads((out / "answers.json").read_text())
    triton = json.loads((a.catalogue / "triton-answers.json").read_text())
    return answers, *compare.judge(answers, triton, compare.read_differences(HERE / "differences.toml"),
                                   compare.read_waiting(HERE / "waiting.toml"))


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--daemon", required=True, type=pathlib.Path)
    p.add_argument("--catalogue", required=True, type=pathlib.Path)
    p.add_argument("--keep", type=pathlib.Path)
    return p.parse_args()


def main():
    a = arguments()
    if not (a.catalogue / "answers.py").exists():
        print(f"skipped: no catalogue at {a.catalogue}")
        return SKIPPED
    if missing := missing_package():
        print(f"skipped: this Python has no package {missing} (deploy/setup --tests)")
        return SKIPPED
    with tempfile.TemporaryDirectory() as temporary:
        out = a.keep or pathlib.Path(temporary)
        out.mkdir(exist_ok=True)
        (out / "answers.json").unlink(missing_ok=True)
        repository = pathlib.Path(temporary) / "models"
        make_models(a.catalogue, repository)
        ask(a, "explicit", repository, out)
        for name in ("broken", "noversion"):  # in the other mode they would be required, and fail
            shutil.rmtree(repository / name)
        ask(a, "none", repository, out)
        answers, faults, counts = judge(a, out)
        # These cases send their calls 10 ms apart and mean them to find each other in the queue. A busy machine can
        # lose the 10 ms.
        if any(fault.startswith(SPACED) for fault in faults):
            print("\n".join(faults), f"asking {SPACED} once more", sep="\n")
            ask(a, "none", repository, out, "--only", SPACED)
            answers, faults, counts = judge(a, out)
    print("\n".join(faults))
    print(f"{len(answers)} cases: {counts}; {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
