"""The metrics add up: replies by code, outcomes of deadlines, stages of a call."""
import collections
import re

import support

if support.found("tritonclient.grpc"):
    import grpc
    import numpy as np
    from tritonclient.grpc import service_pb2 as pb

    import calls

SAMPLE = re.compile(r'^(\w+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def samples(page):
    """(name, labels) -> value, labels as a frozenset of pairs."""
    found = {}
    for line in page.splitlines():
        if match := SAMPLE.match(line):
            found[match[1], frozenset(LABEL.findall(match[2] or ""))] = float(match[3])
    return found


def by_label(page, name, label):
    """The sums of `name` over all labels but one."""
    sums = collections.Counter()
    for (sample, labels), value in samples(page).items():
        if sample == name:
            sums[dict(labels).get(label)] += value
    return sums


def ones(rows=1):
    return calls.request("simple", {n: np.ones((rows, 16)) for n in ("INPUT0", "INPUT1")})


class MetricsTest(support.DaemonTest):
    models = ("simple",)

    def setUp(self):
        self.channel = calls.channel(self.daemon.address)
        self.addCleanup(self.channel.close)
        self.method = calls.infer_method(self.channel)

    def code(self, request, **kw):
        try:
            self.method(request, timeout=30, **kw)
            return "OK"
        except grpc.RpcError as e:
            return e.code().name

    def grown(self, name, label, before):
        """What was counted since `before`, without zeros."""
        after = by_label(self.daemon.metrics(), name, label)
        after.subtract(by_label(before, name, label))
        return {key: count for key, count in after.items() if count}

    def test_replies_by_code_add_up_to_the_calls(self):
        before = self.daemon.metrics()
        sent = collections.Counter()
        for _ in range(20):
            sent[self.code(ones())] += 1
        for _ in range(5):
            sent[self.code(pb.ModelInferRequest(model_name="nope"))] += 1
        for _ in range(4):
            sent[self.code(ones(rows=9))] += 1
        self.assertEqual(sent, {"OK": 20, "NOT_FOUND": 5, "INVALID_ARGUMENT": 4})
        self.assertEqual(self.grown("reprise_requests_total", "code", before), sent)
        self.assertEqual(self.grown("reprise_request_rows_total", "model", before), {"simple": 20})
        outcomes = self.grown("reprise_request_deadline_total", "outcome", before)
        self.assertEqual(sum(outcomes.values()), 29)
        self.assertEqual(outcomes["met"], 20)

    def test_an_unknown_model_makes_no_series(self):
        self.code(pb.ModelInferRequest(model_name="nobody-serves-this"))
        self.assertNotIn("nobody-serves-this", self.daemon.metrics())

    def test_every_histogram_is_complete(self):
        self.code(ones())
        found = samples(self.daemon.metrics())
        counts = [(name, labels) for name, labels in found if name.endswith("_count")]
        self.assertTrue(counts)
        for name, labels in counts:
            infinite = (name.removesuffix("_count") + "_bucket", labels | {("le", "+Inf")})
            self.assertEqual(found[infinite], found[name, labels], name)

    def test_the_pages_beside_the_metrics(self):
        self.assertEqual([self.daemon.probe(p) for p in ("/livez", "/readyz", "/", "/nowhere")], [200, 200, 200, 404])


class StagesTest(support.DaemonTest):
    binary = support.DELAYED
    models = ("simple",)
    flags = ("--test-delay=simple=20ms",)

    def test_the_stages_of_a_call_make_up_its_time(self):
        channel = calls.channel(self.daemon.address)
        self.addCleanup(channel.close)
        method = calls.infer_method(channel)
        for _ in range(50):
            method(ones(), timeout=30)
        stats = self.client().get_inference_statistics("simple").model_stats[0].inference_stats
        self.assertEqual(stats.success.count, 50)
        stages = stats.queue.ns + stats.compute_input.ns + stats.compute_infer.ns + stats.compute_output.ns
        self.assertLessEqual(stages, stats.success.ns)
        self.assertGreaterEqual(stages, 0.99 * stats.success.ns)
        self.assertGreaterEqual(stats.compute_infer.ns, 50 * 20e6)


if __name__ == "__main__":
    support.main()
