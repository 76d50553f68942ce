"""deploy/quickstart with the programs of this build: quickstart_test.py BIN."""
import contextlib
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "deploy/quickstart"
BIN = None


def free_ports():
    """A port that is free, as is the next one: quickstart takes both."""
    while True:
        with contextlib.ExitStack() as stack:
            first = stack.enter_context(socket.socket())
            first.bind(("127.0.0.1", 0))
            second = stack.enter_context(socket.socket())
            with contextlib.suppress(OSError):
                second.bind(("127.0.0.1", first.getsockname()[1] + 1))
                return first.getsockname()[1]


def quickstart(*arguments):
    return subprocess.run([SCRIPT, f"--bin={BIN}", *arguments], capture_output=True, text=True,
                          check=False, cwd="/", stdin=subprocess.DEVNULL, timeout=60)


class QuickstartTest(unittest.TestCase):
    def test_once_answers_and_stops(self):
        port = free_ports()
        result = quickstart("--once", f"--port={port}")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("seven", result.stdout)
        with self.assertRaises(ConnectionRefusedError), socket.socket() as probe:
            probe.connect(("127.0.0.1", port))

    def test_once_passes_on_how_the_server_ended(self):
        with tempfile.TemporaryDirectory() as folder:
            programs = pathlib.Path(folder)
            (programs / "reprise").symlink_to(pathlib.Path(BIN).resolve() / "reprise")
            server = programs / "reprised"
            server.write_text(f"""#!/bin/bash
{pathlib.Path(BIN).resolve()}/reprised "$@" &
trap 'kill -TERM $!' TERM
wait; wait; exit 3
""", encoding="utf-8")
            server.chmod(0o755)
            result = subprocess.run([SCRIPT, f"--bin={folder}", "--once", f"--port={free_ports()}"],
                                    capture_output=True, text=True, check=False, cwd="/",
                                    stdin=subprocess.DEVNULL, timeout=60)
        self.assertEqual(result.returncode, 3, result.stdout + result.stderr)
        self.assertIn("seven", result.stdout)
        self.assertIn("ended with status 3", result.stderr)

    def test_serves_until_it_is_interrupted(self):
        port = free_ports()
        process = subprocess.Popen([SCRIPT, f"--bin={BIN}", f"--port={port}"], cwd="/",
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("Ctrl-C"):
                break
        self.assertTrue(any("seven" in line for line in lines), lines)
        with socket.socket() as probe:
            probe.connect(("127.0.0.1", port))
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=30), 0)

    def test_a_busy_port_is_named(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            result = quickstart("--once", f"--port={port}")
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"port {port} is in use", result.stderr)
        self.assertIn("--port", result.stderr)

    def test_refuses_what_it_does_not_know(self):
        for argument in ("--twice", "--port=abc"):
            with self.subTest(argument):
                result = quickstart(argument)
                self.assertEqual(result.returncode, 1)
                self.assertIn(argument.split("=")[-1], result.stderr)


if __name__ == "__main__":
    BIN = sys.argv.pop(1)
    unittest.main()
