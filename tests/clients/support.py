"""What the client tests share: where things are, models, and skipping with a reason.

A test file ends with `support.main()`. Environment: REPRISE_BUILD is the build folder whose programs are tested.
"""
import importlib.util
import os
import pathlib
import shutil
import sys
import tempfile
import threading
import time
import unittest

sys.dont_write_bytecode = True

from daemon import Daemon  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("REPRISE_BUILD", ROOT / "build" / "release"))
REPRISED = BUILD / "bin" / "reprised"
REPRISE = BUILD / "bin" / "reprise"
DELAYED = BUILD / "tests" / "reprised_delayed"  # the daemon with a device that takes its time
MODELS = ROOT / "deploy" / "models"
SKIPPED = 77  # the exit status that ctest reports as skipped


def main(packages=("numpy", "tritonclient.grpc")):
    """unittest.main, but 77 where a package is missing or every test was skipped."""
    for name in packages:
        if not found(name):
            print(f"skipped: this Python has no package {name} (deploy/setup --tests)")
            sys.exit(SKIPPED)
    result = unittest.main(module="__main__", exit=False, verbosity=2).result
    if result.wasSuccessful() and result.testsRun == len(result.skipped):
        sys.exit(SKIPPED)
    sys.exit(0 if result.wasSuccessful() else 1)


def found(package):
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def tool(name):
    """The path of a load or client tool; skips the calling test without it."""
    path = shutil.which(name, path=f"{ROOT}/build/tools/bin{os.pathsep}{os.environ.get('PATH', '')}")
    if path is None:
        raise unittest.SkipTest(f"{name} is not installed (deploy/setup --tools)")
    return path


def copy_models(*names):
    """A temporary repository with these sample models; the caller cleans it up."""
    folder = tempfile.TemporaryDirectory(prefix="models-")
    for name in names:
        shutil.copytree(MODELS / name, pathlib.Path(folder.name) / name)
    return folder


def copy_simple(repository, name, max_batch_size=1, more=""):
    """The model `simple` under another name; `more` is appended to its configuration."""
    shutil.copytree(MODELS / "simple", repository / name)
    config = (repository / name / "config.pbtxt").read_text()
    config = config.replace('name: "simple"', f'name: "{name}"')
    config = config.replace("max_batch_size: 8", f"max_batch_size: {max_batch_size}")
    (repository / name / "config.pbtxt").write_text(f"{config}\n{more}\n")


def until(condition, seconds=60):
    """Returns what `condition` returns once it is true; an error if it never is."""
    deadline, between = time.monotonic() + seconds, threading.Event()
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not so after {seconds} s")
        between.wait(0.005)
    return value


class DaemonTest(unittest.TestCase):
    """One daemon for all tests of a class; `binary`, `models` and `flags` say which."""
    binary = REPRISED
    models = ("simple", "digits")
    flags = ()

    @classmethod
    def setUpClass(cls):
        cls.repository = copy_models(*cls.models)
        cls.addClassCleanup(cls.repository.cleanup)
        cls.prepare(pathlib.Path(cls.repository.name))
        cls.daemon = Daemon(cls.binary, cls.repository.name, *cls.flags)
        cls.addClassCleanup(cls.daemon.kill)

    @classmethod
    def prepare(cls, repository):
        """Changes the repository before the daemon starts."""

    @classmethod
    def client(cls):
        import tritonclient.grpc
        client = tritonclient.grpc.InferenceServerClient(cls.daemon.address)
        cls.addClassCleanup(client.close)
        return client
