"""How the daemon ends, by its exit codes, and what it writes while it runs."""
import json
import pathlib
import signal
import socket
import subprocess
import tempfile
import unittest

import support
from daemon import Daemon

if support.found("tritonclient.grpc"):
    from tritonclient.grpc import service_pb2 as pb
    from tritonclient.grpc import service_pb2_grpc

    import calls
    from messages import answers, load, simple
    from scrape import by_label

CANNOT_START, BAD_COMMAND_LINE, EXIT_TIMEOUT, SECOND_SIGNAL = 1, 2, 3, 143
FOREVER = "600s"  # far beyond every limit of these tests
QUICK = ("--lame-duck-secs=0",)


class ExitTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="models-")
        self.addCleanup(folder.cleanup)
        self.repository = pathlib.Path(folder.name)
        support.copy_simple(self.repository, "simple")

    def daemon(self, *flags, binary=support.REPRISED, **kw):
        daemon = Daemon(binary, self.repository, *flags, **kw)
        self.addCleanup(daemon.kill)
        return daemon

    def bare_daemon(self, *flags, **kw):
        """Without a metrics port; returns when the models are loaded."""
        daemon = self.daemon("--allow-metrics=false", *flags, wait=False, **kw)
        support.until(lambda: "models loaded" in daemon.log)
        return daemon

    def stub(self, daemon):
        channel = calls.channel(daemon.address)
        self.addCleanup(channel.close)
        return service_pb2_grpc.GRPCInferenceServiceStub(channel)

    def run_daemon(self, *arguments):
        """Exit status, standard output and standard error of a daemon that ends by itself."""
        done = subprocess.run([support.REPRISED, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=60)
        return done.returncode, done.stdout, done.stderr

    def break_a_model(self):
        (self.repository / "broken" / "1").mkdir(parents=True)
        (self.repository / "broken" / "1" / "model.onnx").write_bytes(b"no model")


class SignalTest(ExitTest):
    def test_sigterm_and_sigint_end_it_well(self):
        for name in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(name):
                daemon = self.bare_daemon(*QUICK)
                daemon.process.send_signal(name)
                self.assertEqual(daemon.process.wait(timeout=60), 0, daemon.log)
                self.assertIn("everything answered", daemon.log)
                self.assertIn(" metrics_port=off ", daemon.log)

    def test_a_second_signal_ends_it_at_once(self):
        for first, second in ((signal.SIGTERM, signal.SIGTERM), (signal.SIGTERM, signal.SIGINT),
                              (signal.SIGINT, signal.SIGTERM)):
            with self.subTest(f"{first.name}, {second.name}"):
                daemon = self.daemon("--lame-duck-secs=600")
                daemon.process.send_signal(first)
                support.until(lambda: daemon.probe("/readyz") == 503)
                self.end_by_signals(daemon, second)

    def test_a_second_signal_while_calls_are_finished(self):
        daemon = self.daemon(*QUICK, "--exit-timeout-secs=600", f"--test-delay=simple={FOREVER}",
                             binary=support.DELAYED)
        call = self.stub(daemon).ModelInfer.future(simple(), timeout=60)
        self.wait_running(daemon)
        daemon.terminate()
        support.until(lambda: "stopped accepting" in daemon.log)
        self.end_by_signals(daemon, signal.SIGTERM)
        self.assertEqual(call.code().name, "UNAVAILABLE")  # the connection broke

    def end_by_signals(self, daemon, name):
        """The same signal over and over: those that come soon after the first are not heard."""
        def ended():
            daemon.process.send_signal(name)
            return daemon.process.poll() is not None
        support.until(ended)
        self.assertEqual(daemon.process.wait(), SECOND_SIGNAL, daemon.log)

    def test_a_signal_that_is_sent_twice_is_one(self):
        """As `timeout` does it."""
        daemon = self.bare_daemon(*QUICK)
        daemon.terminate()
        daemon.terminate()
        self.assertEqual(daemon.process.wait(timeout=60), 0, daemon.log)
        self.assertIn("everything answered", daemon.log)

    def wait_running(self, daemon):
        support.until(lambda: by_label(daemon.metrics(), "reprise_slots_in_flight", "device")["cpu"] > 0)

    def test_exit_timeout(self):
        """What runs and what waits is answered, though the device never ends."""
        daemon = self.daemon(*QUICK, "--exit-timeout-secs=1", f"--test-delay=simple={FOREVER}", binary=support.DELAYED)
        stub = self.stub(daemon)
        accepted = [stub.ModelInfer.future(simple(), timeout=60) for _ in range(5)]
        support.until(lambda: by_label(daemon.metrics(), "reprise_queue_requests", "model")["simple"] == 4)
        daemon.terminate()
        for call in accepted:
            self.assertEqual(call.code().name, "UNAVAILABLE", call.details())
            self.assertIn("server is shutting down", call.details())
        self.assertEqual(daemon.process.wait(timeout=60), EXIT_TIMEOUT, daemon.log)
        self.assertIn("exit timeout", daemon.log)

    def test_calls_after_sigterm(self):
        """Served until accepting ends, then refused."""
        daemon = self.bare_daemon("--lame-duck-secs=2", "--model-control-mode=explicit", "--load-model=simple")
        stub = self.stub(daemon)
        self.assertTrue(answers(stub.ModelInfer(simple(), timeout=60)))
        daemon.terminate()
        support.until(lambda: "draining" in daemon.log)
        early = [stub.ServerReady.future(pb.ServerReadyRequest(), timeout=60),
                 stub.ModelInfer.future(simple(), timeout=60),
                 stub.RepositoryModelLoad.future(load("simple"), timeout=60)]
        codes = [call.code().name for call in early]
        if "stopped accepting" not in daemon.log:  # else this machine was too slow to call in time
            self.assertEqual(codes, ["OK"] * 3)
            self.assertFalse(early[0].result().ready)
        support.until(lambda: "stopped accepting" in daemon.log)
        self.assertEqual(stub.ModelInfer.future(simple(), timeout=60).code().name, "UNAVAILABLE")
        self.assertEqual(daemon.process.wait(timeout=60), 0, daemon.log)


class StartTest(ExitTest):
    def test_bad_command_lines(self):
        models = f"--model-repository={self.repository}"
        for arguments, text in (([], "--model-repository"),
                                ([models, "--nope"], "unknown flag --nope"),
                                ([models, "--grpc-port=high"], "--grpc-port=high"),
                                ([models, "--grpc-port=65536"], "--grpc-port must be in"),
                                ([models, "--model-control-mode=some"], "none|explicit|poll"),
                                ([models, "--load-model=simple"], "--model-control-mode=explicit"),
                                ([models, "more"], "unexpected argument 'more'"),
                                ([f"{models}/absent"], "absent' is not a directory"),
                                ([models, "--config=/absent"], "cannot read '/absent'")):
            with self.subTest(arguments[-1:]):
                status, out, err = self.run_daemon(*arguments)
                self.assertEqual((status, out), (BAD_COMMAND_LINE, ""), err)
                self.assertIn(text, err)
                self.assertTrue(all(line.startswith("reprised: ") for line in err.splitlines()), err)

    def test_help_and_version_go_to_standard_output(self):
        for flag, text in (("--help", "--model-repository"), ("--version", "reprised ")):
            status, out, err = self.run_daemon(flag)
            self.assertEqual((status, err), (0, ""))
            self.assertIn(text, out)

    def test_ports_in_use(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            for mine, other in (("--grpc-port", "--metrics-port"), ("--metrics-port", "--grpc-port")):
                with self.subTest(mine):
                    status, _, err = self.run_daemon(f"--model-repository={self.repository}", f"{mine}={port}",
                                                     f"{other}=0")
                    self.assertEqual(status, CANNOT_START, err)
                    self.assertIn(f"cannot listen on 127.0.0.1:{port}", err)
                    self.assertIn("in use", err)

    def test_exit_on_error(self):
        self.break_a_model()
        status, _, err = self.run_daemon(f"--model-repository={self.repository}", "--exit-on-error", "--grpc-port=0",
                                         "--allow-metrics=false")
        self.assertEqual(status, CANNOT_START, err)
        errors = [line for line in err.splitlines() if " error " in line]
        self.assertEqual(len(errors), 2, err)  # each is said once
        self.assertIn("model failed to load model=broken", errors[0])
        self.assertIn("--exit-on-error says: not loaded are model 'broken'", errors[1])

    def test_without_exit_on_error_the_others_are_served(self):
        self.break_a_model()
        daemon = self.daemon(*QUICK, wait=False)
        support.until(lambda: "models loaded" in daemon.log)
        self.assertIn("model failed to load model=broken", daemon.log)
        self.assertTrue(answers(self.stub(daemon).ModelInfer(simple(), timeout=60)))
        self.assertEqual((daemon.probe("/livez"), daemon.probe("/readyz")), (200, 503))


class LogTest(ExitTest):
    def test_slow_requests_are_logged_with_their_stages(self):
        daemon = self.daemon("--slow-request-ms=100", "--test-delay=simple=150ms", binary=support.DELAYED)
        self.stub(daemon).ModelInfer(simple(id="order-66"), timeout=60)
        line = support.until(lambda: next((line for line in daemon.log.splitlines() if "slow request" in line), None))
        for part in (" warning ", "model=simple", "version=1", "rows=1", 'id="order-66"', "total_ms=", "queue_ms=",
                     "compute_ms=", "reply_ms="):
            self.assertIn(part, line)
        stages = {key: float(value) for key, value in (field.split("=") for field in line.split() if "_ms=" in field)}
        self.assertGreaterEqual(stages["compute_ms"], 150)
        self.assertAlmostEqual(stages.pop("total_ms"), sum(stages.values()), delta=0.01)

    def test_fast_requests_are_not(self):
        daemon = self.daemon("--slow-request-ms=60000")
        self.stub(daemon).ModelInfer(simple(), timeout=60)
        self.assertNotIn("slow request", daemon.log)

    def test_every_line_of_the_json_log_is_an_object(self):
        self.break_a_model()
        daemon = self.bare_daemon(*QUICK, "--log-format=json", "--slow-request-ms=1", "--test-delay=simple=20ms",
                                  binary=support.DELAYED)
        self.stub(daemon).ModelInfer(simple(id='a "quoted" \\ id'), timeout=60)
        support.until(lambda: "slow request" in daemon.log)
        self.assertEqual(daemon.stop(), 0)
        lines = [json.loads(line) for line in daemon.log.splitlines()]
        for line in lines:
            self.assertLessEqual({"time", "level", "message"}, set(line))
        slow = next(line for line in lines if line["message"].startswith("slow request"))
        self.assertEqual((slow["level"], slow["model"], slow["rows"]), ("warning", "simple", 1))
        self.assertGreaterEqual(slow["total_ms"], 20)
        self.assertEqual(slow["id"], 'a "quoted" \\ id')
        self.assertTrue(any(line["level"] == "error" and line.get("model") == "broken" for line in lines))


if __name__ == "__main__":
    support.main()
