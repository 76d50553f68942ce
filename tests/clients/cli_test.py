"""The `reprise` command against the running daemon: each subcommand as text and as JSON, and its exit codes."""
import json
import pathlib
import subprocess
import tempfile

import support
from daemon import free_port

if support.found("numpy"):
    import numpy as np

WRONG_USE, UNAVAILABLE, REFUSED, NOT_SERVING = 1, 2, 3, 4
SAMPLES = support.MODELS / "digits" / "samples"
DIGITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


def grey_jpeg(grey):
    """A JPEG of 8 x 8 pixels of one grey from 192 to 255: one block, whose mean takes 7 bits and all else none."""
    def segment(marker, body):
        return bytes([0xFF, marker]) + (len(body) + 2).to_bytes(2, "big") + body

    def one_symbol(table, symbol):  # a Huffman table that writes the symbol as a single 0
        return segment(0xC4, bytes([table, 1, *[0] * 15, symbol]))

    bits = "0" + format(grey - 128, "07b") + "0"
    block = int(bits.ljust(16, "1"), 2).to_bytes(2, "big")
    parts = (segment(0xDB, bytes([0, *[8] * 64])), segment(0xC0, bytes([8, 0, 8, 0, 8, 1, 1, 0x11, 0])),
             one_symbol(0x00, 7), one_symbol(0x10, 0), segment(0xDA, bytes([1, 1, 0, 0, 63, 0])), block)
    return b"".join((b"\xFF\xD8", *parts, b"\xFF\xD9"))


class CliTest(support.DaemonTest):
    flags = ("--model-control-mode=explicit", "--load-model=*")

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cli-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_cli(self, *arguments, status=0, server=None):
        """Standard output; a failure says why in one line on standard error, and nothing else."""
        command = [support.REPRISE, *map(str, arguments), "--server", server or self.daemon.address]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120,
                              cwd=self.folder)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        if status in (WRONG_USE, UNAVAILABLE, REFUSED):
            self.assertEqual((done.stdout, len(done.stderr.splitlines())), ("", 1), done.stderr)
            self.assertTrue(done.stderr.startswith("reprise"), done.stderr)
            return done.stderr
        return done.stdout

    def run_json(self, *arguments, **kw):
        return json.loads(self.run_cli(*arguments, "--json", **kw))

    def outputs(self, *arguments):
        """What `infer` says in JSON, as arrays by name."""
        reply = self.run_json("infer", *arguments)
        return {o["name"]: np.array(o["data"]).reshape(o["shape"]) for o in reply["outputs"]}

    def rows(self, *arguments):
        """The cells of a table, without its head."""
        return [line.split() for line in self.run_cli(*arguments).splitlines()[1:]]


class InformationTest(CliTest):
    def test_models(self):
        self.assertEqual(self.rows("models"), [["digits", "1", "READY"], ["simple", "1", "READY"]])
        self.assertEqual(self.run_json("models", "--ready")[1],
                         {"name": "simple", "version": "1", "state": "READY", "reason": ""})

    def test_config(self):
        text = self.run_cli("config", "digits")
        for line in ('name: "digits"', "max_batch_size: 32", "dynamic_batching {", 'label_filename: "labels.txt"'):
            self.assertIn(line, text)
        config = self.run_json("config", "simple", "--model-version", "1")
        self.assertEqual((config["name"], config["max_batch_size"], len(config["input"])), ("simple", 8, 2))

    def test_stats(self):
        before = self.run_json("stats", "simple")[0]["inference_count"]
        self.run_cli("infer", "simple", "--input", "random", "--batch", 3)
        self.assertEqual(self.run_json("stats", "simple")[0]["inference_count"] - before, 3)
        row = next(row for row in self.rows("stats") if row[0] == "simple")
        self.assertEqual((row[1], int(row[4])), ("1", before + 3))

    def test_health(self):
        for service in ([], ["liveness"], ["readiness"], ["inference.GRPCInferenceService"], ["simple"]):
            self.assertEqual(self.run_cli("health", *service), "SERVING\n")
        self.assertEqual(self.run_json("health", "simple"), {"service": "simple", "status": "SERVING"})
        self.assertIn("nope", self.run_cli("health", "nope", status=REFUSED))


class InferTest(CliTest):
    def test_a_picture_as_text_and_as_json(self):
        flags = ("--scale", "1/255", "--top-k", 1, "--labels", support.MODELS / "digits" / "labels.txt")
        for digit in (3, 8):
            row = self.rows("infer", "digits", SAMPLES / f"{digit}.png", *flags)[0]
            self.assertEqual([row[i] for i in (0, 1, 2, 3, 5)], ["probabilities", "0", "1", str(digit), DIGITS[digit]])
        probabilities = self.outputs("digits", SAMPLES / "3.png", "--scale", "1/255")["probabilities"]
        self.assertEqual((probabilities.shape, int(probabilities.argmax())), ((1, 10), 3))

    def test_several_pictures_are_one_batch(self):
        files = [SAMPLES / f"{d}.png" for d in range(10)]
        rows = self.rows("infer", "digits", *files, "--scale", "1/255", "--top-k", 1)
        self.assertEqual([row[3] for row in rows], [str(d) for d in range(10)])

    def test_a_pgm_that_is_resized(self):
        """A picture of one grey is the same at any size."""
        (self.folder / "large.pgm").write_bytes(b"P5\n16 16\n255\n" + bytes([200]) * 256)
        np.save(self.folder / "small.npy", np.full((1, 1, 8, 8), 200 / 255, np.float32))
        from_picture = self.outputs("digits", "large.pgm", "--scale", "1/255")["probabilities"]
        np.testing.assert_allclose(from_picture, self.outputs("digits", "small.npy")["probabilities"], rtol=1e-4,
                                   atol=1e-6)

    def test_a_jpeg(self):
        (self.folder / "grey.jpg").write_bytes(grey_jpeg(200))
        np.save(self.folder / "grey.npy", np.full((1, 1, 8, 8), 200 / 255, np.float32))
        got, expected = (self.outputs("digits", file, *flags)["probabilities"]
                         for file, *flags in (["grey.jpg", "--scale", "1/255"], ["grey.npy"]))
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-6)

    def test_a_batch_repeats_the_rows_of_files(self):
        command = ("infer", "digits", SAMPLES / "3.png", SAMPLES / "8.png", "--scale", "1/255", "--top-k", 1)
        self.assertEqual([row[3] for row in self.rows(*command, "--batch", 5)], ["3", "8", "3", "8", "3"])
        self.assertIn("--batch 1, but its files hold 2 rows", self.run_cli(*command, "--batch", 1, status=WRONG_USE))

    def test_files_of_the_wrong_size(self):
        (self.folder / "short.bin").write_bytes(bytes(255))
        self.assertIn('short.bin: 255 bytes, but a row of input "image" (FP32 [-1, 1, 8, 8]) takes 256',
                      self.run_cli("infer", "digits", "short.bin", status=WRONG_USE))
        np.save(self.folder / "cut.npy", np.zeros((1, 1, 8, 8), np.float32))
        (self.folder / "cut.npy").write_bytes((self.folder / "cut.npy").read_bytes()[:-6])
        self.assertIn("cut.npy: it holds 250 bytes of data",
                      self.run_cli("infer", "digits", "cut.npy", status=WRONG_USE))

    def test_npy_there_and_back(self):
        a = np.arange(48, dtype=np.int32).reshape(3, 16)
        np.save(self.folder / "a.npy", a)
        np.save(self.folder / "b.npy", a[::-1])
        self.run_cli("infer", "simple", "--input", "INPUT0=a.npy", "--input", "INPUT1=b.npy", "--output",
                     "OUTPUT0=sum.npy", "--output", "OUTPUT1=difference.npy")
        total = np.load(self.folder / "sum.npy")
        np.testing.assert_array_equal(total, a + a[::-1])
        self.assertEqual(total.dtype, np.int32)
        np.testing.assert_array_equal(np.load(self.folder / "difference.npy"), a - a[::-1])
        again = self.outputs("simple", "--input", "INPUT0=sum.npy", "--input", "INPUT1=difference.npy")
        np.testing.assert_array_equal(again["OUTPUT0"], 2 * a)

    def test_raw_bytes_random_and_zeros(self):
        a = np.arange(16, dtype=np.int32)
        (self.folder / "a.bin").write_bytes(a.tobytes())
        got = self.outputs("simple", "--input", "INPUT0=a.bin", "--input", "INPUT1=zeros")
        np.testing.assert_array_equal(got["OUTPUT0"], [a])
        first, same, other = (self.outputs("simple", "--input", "INPUT0=random", "--input", "INPUT1=zeros", "--seed",
                                           seed, "--batch", 2)
                              for seed in (1, 1, 2))
        np.testing.assert_array_equal(first["OUTPUT0"], same["OUTPUT0"])
        self.assertFalse(np.array_equal(first["OUTPUT0"], other["OUTPUT0"]))
        self.assertEqual(self.outputs("simple", "--input", "random", "--batch", 8)["OUTPUT1"].shape, (8, 16))

    def test_only_the_outputs_that_are_wanted(self):
        self.assertEqual(list(self.outputs("simple", "--input", "random", "--want", "OUTPUT1")), ["OUTPUT1"])
        table = self.rows("infer", "simple", "--input", "zeros", "--want", "OUTPUT0", "--id", "x", "--model-version", 1)
        self.assertEqual(table[0][:4], ["OUTPUT0", "INT32", "[1,", "16]"])


class RepositoryTest(CliTest):
    def test_unload_and_load(self):
        self.assertEqual(self.run_json("unload", "digits"), {"name": "digits", "loaded": False})
        self.assertIn(["digits", "1", "UNAVAILABLE", "unloaded"], self.rows("models"))
        self.assertEqual(self.run_cli("health", "digits", status=NOT_SERVING), "NOT_SERVING\n")
        self.assertEqual(self.run_cli("load", "digits"), "digits is loaded\n")
        self.assertEqual(self.run_cli("unload", "digits"), "digits is unloaded\n")
        self.assertEqual(self.run_json("load", "digits"), {"name": "digits", "loaded": True})
        self.assertEqual(self.run_cli("health", "digits"), "SERVING\n")

    def test_load_with_a_configuration_and_a_file(self):
        config = self.run_json("config", "simple")
        config.update(name="sent", max_batch_size=2)
        config.pop("instance_group")
        (self.folder / "sent.json").write_text(json.dumps(config))
        self.run_cli("load", "sent", "--config", "sent.json", "--file",
                     f"1/model.onnx={support.MODELS / 'simple' / '1' / 'model.onnx'}")
        self.assertEqual(self.run_json("config", "sent")["max_batch_size"], 2)
        self.assertIn("batch-size must be <= 2",
                      self.run_cli("infer", "sent", "--input", "random", "--batch", 3, status=REFUSED))
        self.run_cli("unload", "sent")


class BenchTest(CliTest):
    short = ("--duration", "500ms", "--warmup", "100ms", "--quiet")

    def test_a_closed_loop(self):
        text = self.run_cli("bench", "simple", "--concurrency", 4, *self.short)
        for part in ("simple: 4 callers", "errors   none", "latency  p50", "p99.9", "server   queue", "batches"):
            self.assertIn(part, text)
        report = self.run_json("bench", "simple", "--concurrency", 2, "--requests", 50, "--quiet", "--warmup", "0s")
        self.assertEqual((report["count"], report["statusCodeDistribution"]), (50, {"OK": 50}))
        self.assertEqual(report["reprise"]["okPerSecond"], report["rps"])

    def test_files_fill_the_batch_that_is_reported(self):
        own = self.run_json("bench", "digits", "--input", SAMPLES / "3.png", "--batch", 4, "--requests", 20, "--quiet",
                            "--warmup", "0s")["reprise"]
        self.assertEqual((own["batch"], own["server"]["rows"]), (4, 80))

    def test_an_open_loop(self):
        report = self.run_json("bench", "digits", "--rate", 100, "--distribution", "constant", "--requests", 50,
                               "--warmup", "0s", "--quiet")
        self.assertEqual((report["count"], report["statusCodeDistribution"]), (50, {"OK": 50}))
        self.assertEqual([p["percentage"] for p in report["latencyDistribution"]], [10, 25, 50, 75, 90, 95, 99, 99.9])
        self.assertIn("errors   none", self.run_cli("bench", "simple", "--rate", 200, *self.short))

    def test_a_range_is_a_report_for_each_step(self):
        steps = self.run_json("bench", "simple", "--concurrency", "1:3:2", "--requests", 20, "--quiet", "--warmup",
                              "0s")
        self.assertEqual([step["count"] for step in steps], [20, 20])

    def test_no_answer_at_all(self):
        self.run_cli("bench", "nope", *self.short, status=REFUSED)


class ExitCodeTest(CliTest):
    COMMANDS = (["models"], ["config", "simple"], ["stats"], ["infer", "simple", "--input", "random"],
                ["load", "simple"], ["unload", "simple"], ["bench", "simple"], ["health"])

    def test_no_server(self):
        for command in self.COMMANDS:
            with self.subTest(command[0]):
                text = self.run_cli(*command, server=f"127.0.0.1:{free_port()}", status=UNAVAILABLE)
                self.assertTrue(text.startswith(f"reprise {command[0]}: UNAVAILABLE: "), text)

    def test_unknown_models(self):
        for command in ("config", "stats", "infer", "load", "bench"):
            with self.subTest(command):
                more = ("--input", "random") if command == "infer" else ()
                self.assertIn("nope", self.run_cli(command, "nope", *more, status=REFUSED))

    def test_bad_flags(self):
        for command in self.COMMANDS:
            with self.subTest(command[0]):
                self.assertIn("--nope", self.run_cli(*command, "--nope", status=WRONG_USE))
        for command in (["config"], ["infer"], ["models", "more"], ["frobnicate"], ["infer", "digits", "absent.png"],
                        ["infer", "simple", "--batch", "many"], ["infer", "simple", "--input", "INPUT9=zeros"],
                        ["bench", "simple", "--rate", "fast"], ["bench", "simple", "--duration", "0s"],
                        ["models", "--timeout", "0"],
                        ["infer", "simple", "--input", "random", "--labels", "labels.txt"],
                        ["infer", "digits", SAMPLES / "3.png", "--resize", "9x9"]):
            with self.subTest(command):
                self.run_cli(*command, status=WRONG_USE)

    def test_output_that_cannot_be_written(self):
        for command in (["models"], ["infer", "simple", "zeros", "--json"], ["--help"]):
            with self.subTest(command[0]), open("/dev/full", "wb") as full:
                flags = [] if command == ["--help"] else ["--server", self.daemon.address]
                done = subprocess.run([support.REPRISE, *command, *flags], stdout=full, stderr=subprocess.PIPE,
                                      text=True, timeout=120)
                self.assertEqual((done.returncode, done.stderr),
                                 (WRONG_USE, "reprise: cannot write to stdout: No space left on device\n"))

    def test_names_that_are_not_utf8(self):
        for name, *command in (("MODEL", "config", "a\udcff"), ("--id", "infer", "simple", "zeros", "--id", "\udcff"),
                               ("--want", "infer", "simple", "zeros", "--want", "\udcff")):
            with self.subTest(name):
                self.assertIn(f"{name}: ", self.run_cli(*command, status=WRONG_USE))

    def test_headers_that_cannot_be_sent(self):
        for header in ("A b:c", "x:\x01", "\u00e9:x"):
            for command in ("models", "health"):
                with self.subTest(command=command, header=header):
                    self.assertIn("header", self.run_cli(command, "--header", header, status=WRONG_USE))
        self.run_cli("models", "--header", "X-Key: a b", "--header", "x-bin:\x01")

    def test_addresses(self):
        for address in ("localhost:99999", "localhost:http", "http://localhost:8001", ":8001"):
            with self.subTest(address):
                self.assertIn(f'"{address}"', self.run_cli("models", server=address, status=WRONG_USE))
        port = self.daemon.address.rpartition(":")[2]
        for address in (f"dns:localhost:{port}", f"ipv4:127.0.0.1:{port}"):
            with self.subTest(address):
                self.run_cli("models", server=address)

    def test_tls_files_that_cannot_be_used(self):
        (self.folder / "ca.key").write_text("no certificate")
        self.assertIn("ca.key holds no PEM certificate",
                      self.run_cli("health", "--tls-ca", "ca.key", status=WRONG_USE))

    def test_help_of_every_command(self):
        for command in self.COMMANDS:
            self.assertIn(f"Usage: reprise {command[0]}", self.run_cli(command[0], "--help"))


del CliTest

if __name__ == "__main__":
    support.main(packages=("numpy",))
