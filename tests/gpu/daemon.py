"""A daemon of the build or of a bundle, started and watched by the scripts of this folder."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
NO_GPU = 77
POLL = 0.002  # between two looks at a process of its own, which has no clock to drive


def root():
    """Where bin/ and tests/ have the programs: the bundle that this file is in, or the build."""
    top = HERE.parents[1]
    return top if (top / "bundle.txt").exists() else top / "build" / "release"


def program(name):
    for folder in ("bin", "tests"):
        path = root() / folder / name
        if path.exists():
            return str(path)
    sys.exit(f"{name} is not in {root()}: build it, or make a bundle")


def has_gpu():
    """Whether the daemon would find one."""
    with tempfile.TemporaryDirectory() as empty:
        with Daemon(["--device=cuda", f"--model-repository={empty}"], wait=False) as daemon:
            return daemon.await_live()


def skip_without_gpu():
    if not has_gpu():
        print("skipped: no GPU that can be used")
        sys.exit(NO_GPU)


@contextlib.contextmanager
def models(*names, **folders):
    """A repository of seeded models: `names` of make_models.py, and copies of them under other names."""
    with tempfile.TemporaryDirectory() as top:
        out = pathlib.Path(top)
        wanted = sorted(set(names) | set(folders.values()))
        listed = [name for name in wanted if name != "simple"]
        command = [sys.executable, str(HERE / "make_models.py"), "--out", str(out), "--models", ",".join(listed)]
        if "simple" in wanted:
            command.append("--with-simple")
        made = subprocess.run(command, capture_output=True, text=True)
        if made.returncode == NO_GPU:
            print(made.stdout.strip())
            sys.exit(NO_GPU)
        if made.returncode != 0:
            sys.exit(made.stderr)
        for name, source in folders.items():
            shutil.copytree(out / source, out / name)
            configure(out, name, re.sub(r'name: "[^"]*"', f'name: "{name}"',
                                        (out / name / "config.pbtxt").read_text(), count=1))
        for name in set(folders.values()) - set(names):
            shutil.rmtree(out / name)
        yield out


def configure(repository, name, text, more=""):
    (repository / name / "config.pbtxt").write_text(text + more)


def add_to_config(repository, name, more):
    path = repository / name / "config.pbtxt"
    path.write_text(path.read_text() + more + "\n")


SERIES = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


class Metrics:
    """A metrics page: (name, labels) -> value."""

    def __init__(self, text):
        self.series = []
        for line in text.splitlines():
            match = SERIES.match(line)
            if match:
                self.series.append((match[1], dict(LABEL.findall(match[2] or "")), float(match[3])))

    def all(self, name, **labels):
        return [(found, value) for series, found, value in self.series
                if series == name and all(found.get(key) == text for key, text in labels.items())]

    def sum(self, name, **labels):
        return sum(value for _, value in self.all(name, **labels))


class Daemon:
    """One process on free ports; `log` has what it said. Ends with the context."""

    def __init__(self, args, name="reprised", wait=True, env=None):
        self.begun = time.monotonic()
        self.folder = tempfile.TemporaryDirectory()
        self.log = pathlib.Path(self.folder.name) / "log"
        command = [program(name), "--grpc-port=0", "--metrics-port=0", "--lame-duck-secs=0", *args]
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, **(env or {})})
        self.grpc = self.metrics_port = None
        if wait and not (self.await_live() and self.await_ready()):
            self.fail("it did not become ready")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.folder.cleanup()

    def fail(self, why):
        print(self.text()[-6000:])
        sys.exit(f"FAILED: {why}")

    def text(self):
        return self.log.read_text(errors="replace")

    def await_live(self, seconds=60):
        while time.monotonic() < self.begun + seconds:
            match = re.search(r"info live grpc=(\S+) metrics_port=(\d+)", self.text())
            if match:
                self.grpc, self.metrics_port = match[1], int(match[2])
                return True
            if self.process.poll() is not None:
                return False
            time.sleep(POLL)
        return False

    def page(self, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/{path}", timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, ""
        except OSError:
            return 0, ""

    def await_ready(self, seconds=300):
        while time.monotonic() < self.begun + seconds:
            if self.page("readyz")[0] == 200:
                return True
            if self.process.poll() is not None:
                return False
            time.sleep(POLL)
        return False

    def metrics(self):
        status, text = self.page("metrics")
        if status != 200:
            self.fail(f"the metrics page answered {status}")
        return Metrics(text)

    def cli(self, *args, check=True):
        """Runs `reprise`; returns the finished process."""
        done = subprocess.run([program("reprise"), *args, "--server", self.grpc], capture_output=True, text=True)
        if check and done.returncode != 0:
            self.fail(f"reprise {' '.join(args)}: {done.stdout}{done.stderr}")
        return done

    def bench(self, model, *args):
        """The report of `reprise bench`, as Bench."""
        return Bench(json.loads(self.cli("bench", model, "--json", "--quiet", *args).stdout))


    def bench_by(self, processes, model, args):
        """The same by several clients at once, each with the load of `args(processes)`."""
        command = [program("reprise"), "bench", model, "--json", "--quiet", "--server", self.grpc, *args(processes)]
        running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(processes)]
        return Benches([Bench(json.loads(one.communicate()[0])) for one in running])


class Benches:
    """What several clients saw: rates in sum, of latencies the median of the medians and the worst of the others."""

    def __init__(self, parts):
        self.parts = parts
        self.rate, self.rows, self.failed, self.late = (sum(getattr(part, name) for part in parts)
                                                        for name in ("rate", "rows", "failed", "late"))
        self.rows_a_batch = parts[0].rows_a_batch

    def latency(self, percentage):
        values = [part.latency(percentage) for part in self.parts]
        return statistics.median(values) if percentage <= 50 else max(values)


class Bench:
    def __init__(self, report):
        self.report = report
        self.rate = report["reprise"]["okPerSecond"]
        self.rows = report["reprise"]["rowsPerSecond"]
        self.failed = sum(count for code, count in report["statusCodeDistribution"].items() if code != "OK")
        self.late = report["reprise"]["late"] + report["reprise"]["unsent"]
        self.rows_a_batch = report["reprise"]["server"]["rowsPerBatch"]

    def latency(self, percentage):
        """In microseconds; 0 where there is none."""
        for entry in self.report["latencyDistribution"] or []:
            if entry["percentage"] == percentage:
                return entry["latency"] / 1000
        return 0


def table(header, rows):
    """As markdown."""
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print(flush=True)
