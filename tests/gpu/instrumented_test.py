"""What the instrumented daemon refuses, and does where there is no GPU: CUDA_VISIBLE_DEVICES hides those there are.

    instrumented_test.py FOLDER    the folder has the daemon
"""
import os
import subprocess
import sys
import tempfile
import unittest

CANNOT_START, BAD_COMMAND_LINE = 1, 2


class FlagsTest(unittest.TestCase):
    def run_daemon(self, *flags):
        """Exit code and standard error."""
        with tempfile.TemporaryDirectory() as repository:
            command = [f"{FOLDER}/reprised_instrumented", f"--model-repository={repository}", "--grpc-port=0",
                       "--allow-metrics=false", *flags]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60,
                                  env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
        return done.returncode, done.stderr

    def expect(self, code, text, *flags):
        found, said = self.run_daemon(*flags)
        self.assertEqual(found, code, said)
        self.assertIn(text, said)

    def test_bad_flags_are_refused(self):
        self.expect(BAD_COMMAND_LINE, "--test-stamps: expected a file", "--test-stamps=")
        for value in ("", "0", "-1", "two"):
            self.expect(BAD_COMMAND_LINE, "expected a number", f"--test-fill-at-graph={value}")
        self.expect(BAD_COMMAND_LINE, "exclude each other", "--test-stamps=file", "--test-fill-at-graph=1")
        self.expect(BAD_COMMAND_LINE, "--test-nothing", "--test-nothing")

    def test_no_other_device_is_served_on(self):
        for flag in ("--device=cpu", "--gpus=1"):
            self.expect(BAD_COMMAND_LINE, f"{flag}: this daemon serves on the first GPU only", flag)

    def test_nothing_stands_in_for_a_gpu(self):
        for flag in ("--test-faulty-sinh", "--test-fill-at-graph=1", "--test-stamps=/nowhere/file"):
            self.expect(CANNOT_START, "cannot start: --device=cuda", flag)


if __name__ == "__main__":
    FOLDER = sys.argv.pop()
    unittest.main()
