"""Load and client tools against the daemon. Each is skipped where it is not installed."""
import json
import re
import subprocess

import support

INFER = "inference.GRPCInferenceService/ModelInfer"
TENSOR = {"datatype": "INT32", "shape": [1, 16], "contents": {"int_contents": list(range(16))}}
REQUEST = json.dumps({"model_name": "simple", "inputs": [dict(TENSOR, name="INPUT0"), dict(TENSOR, name="INPUT1")]})


class ToolsTest(support.DaemonTest):
    models = ("simple",)

    def run_tool(self, name, *arguments, stdin=None, status=0):
        done = subprocess.run([support.tool(name), *arguments], input=stdin, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=120)
        self.assertEqual(done.returncode, status, done.stdout)
        return done.stdout

    def test_promtool_accepts_the_scrape(self):
        page = self.daemon.metrics()
        self.assertIn("reprise_build_info", page)
        self.assertIn("process_cpu_seconds_total", page)
        self.run_tool("promtool", "check", "metrics", stdin=page)

    def test_grpcurl_lists_and_asks_by_reflection(self):
        services = self.run_tool("grpcurl", "-plaintext", self.daemon.address, "list").split()
        self.assertIn("inference.GRPCInferenceService", services)
        self.assertIn("grpc.health.v1.Health", services)
        reply = json.loads(self.run_tool("grpcurl", "-plaintext", "-d", REQUEST, self.daemon.address, INFER))
        self.assertEqual(reply["modelName"], "simple")
        self.assertEqual(len(reply["rawOutputContents"]), 2)

    def test_ghz_sees_no_error(self):
        report = json.loads(self.run_tool("ghz", "--insecure", "--call", INFER, "-d", REQUEST, "-n", "500", "-c", "8",
                                          "-O", "json", self.daemon.address))
        self.assertEqual(report["statusCodeDistribution"], {"OK": 500})

    def test_ghz_with_the_published_schema(self):
        report = json.loads(self.run_tool("ghz", "--insecure", "--proto",
                                          str(support.ROOT / "proto" / "grpc_service.proto"), "--call",
                                          INFER, "-d", REQUEST, "-n", "50", "-O", "json", self.daemon.address))
        self.assertEqual(report["statusCodeDistribution"], {"OK": 50})

    def test_grpc_health_probe(self):
        for service in ("", "liveness", "readiness", "inference.GRPCInferenceService", "simple"):
            self.assertIn("SERVING",
                          self.run_tool("grpc-health-probe", f"-addr={self.daemon.address}", f"-service={service}"))
        self.run_tool("grpc-health-probe", f"-addr={self.daemon.address}", "-service=nope", status=3)

    def test_grpcurl_calls_are_in_the_metrics(self):
        name = r'reprise_requests_total\{[^}]*code="OK"[^}]*model="simple"[^}]*\} (\d+)'
        before = re.search(name, self.daemon.metrics())
        self.run_tool("grpcurl", "-plaintext", "-d", REQUEST, self.daemon.address, INFER)
        after = re.search(name, self.daemon.metrics())
        self.assertIsNotNone(after)
        self.assertEqual(int(after[1]) - int(before[1] if before else 0), 1)


if __name__ == "__main__":
    support.main(packages=())
