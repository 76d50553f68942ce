"""Starts and stops `reprised` for a test: free ports, readiness, the log.

    with Daemon(binary, repository, "--model-control-mode=explicit") as daemon:
        client = InferenceServerClient(daemon.address)

Needs nothing but the standard library.
"""
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

START_SECONDS = float(os.environ.get("REPRISE_START_SECONDS", "60"))


class DaemonError(Exception):
    """The daemon did not do what was asked; the text ends with its log."""


def free_port():
    """A port of 127.0.0.1 that nobody listens on now."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Daemon:
    """One process. `prefix` is put before the command, e.g. ["taskset", "-c", "0"]."""

    def __init__(self, binary, repository, *flags, prefix=(), wait=True):
        self.port, self.metrics_port = free_port(), free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.metrics_url = f"http://127.0.0.1:{self.metrics_port}"
        self.log_file = tempfile.NamedTemporaryFile(prefix="reprised-", suffix=".log", delete=False)
        command = [*prefix, str(binary), f"--model-repository={repository}", f"--grpc-port={self.port}",
                   f"--metrics-port={self.metrics_port}", *flags]
        self.process = subprocess.Popen(command, stdout=self.log_file, stderr=subprocess.STDOUT)
        if wait:
            try:
                self.wait_ready()
            except BaseException:
                self.kill()
                raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    @property
    def log(self):
        return pathlib.Path(self.log_file.name).read_text(errors="replace")

    def probe(self, path, timeout=2):
        """The HTTP status of a page of the metrics port; None if there is no answer."""
        try:
            with urllib.request.urlopen(self.metrics_url + path, timeout=timeout) as reply:
                return reply.status
        except urllib.error.HTTPError as e:
            return e.code
        except OSError:
            return None

    def metrics(self):
        with urllib.request.urlopen(self.metrics_url + "/metrics", timeout=5) as reply:
            return reply.read().decode()

    def wait_ready(self, seconds=START_SECONDS):
        """Returns when /readyz says 200."""
        deadline = time.monotonic() + seconds
        while self.probe("/readyz", timeout=1) != 200:
            try:
                code = self.process.wait(timeout=0.02)
                raise DaemonError(f"exited with {code} before it was ready\n{self.log}")
            except subprocess.TimeoutExpired:
                pass
            if time.monotonic() > deadline:
                raise DaemonError(f"not ready after {seconds} s\n{self.log}")

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def stop(self, seconds=60):
        """SIGTERM, and the exit status."""
        self.terminate()
        try:
            return self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise DaemonError(f"still running {seconds} s after SIGTERM\n{self.log}") from None

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log_file.close()
        if os.path.exists(self.log_file.name):
            os.unlink(self.log_file.name)
