"""The metrics add up: replies by code, outcomes of deadlines, stages of a call."""
import collections

import support
from scrape import by_label, grown, samples
from slow_models import SlowModelsTest

if support.found("tritonclient.grpc"):
    import grpc
    import numpy as np
    from tritonclient.grpc import service_pb2 as pb

    import calls
    from messages import unload

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
        return grown(before, self.daemon.metrics(), name, label)

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

    def test_every_family_has_a_help_text_of_the_same_form(self):
        self.code(ones())
        helped = [line.split(" ", 3) for line in self.daemon.metrics().splitlines() if line.startswith("# HELP ")]
        self.assertTrue(helped)
        for _, _, name, *text in helped:
            self.assertRegex("".join(text), r"^[A-Z(].*[^.]$", name)

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


class OutcomesTest(SlowModelsTest):
    """Every way that a call can end is counted once, by its code and by its outcome."""
    flags = ("--model-control-mode=explicit", "--load-model=*", "--test-delay=slow=200ms", "--test-delay=late=1s")

    @classmethod
    def prepare(cls, repository):
        support.copy_simple(repository, "slow", more="dynamic_batching { default_queue_policy { max_queue_size: 8 } }")
        support.copy_simple(repository, "late")
        support.copy_simple(repository, "gone")

    def setUp(self):
        super().setUp()
        self.before = self.daemon.metrics()

    def counted(self, name, label, **where):
        return grown(self.before, self.daemon.metrics(), name, label, **where)

    def check(self, model, codes, outcomes):
        """What was counted for `model` since the test began; and that every call is in both counts."""
        for call in self.made:
            call.code()  # waits for its end

        def counts():
            return (self.counted("reprise_requests_total", "code", model=model),
                    self.counted("reprise_request_deadline_total", "outcome", model=model))
        # A call that its client ended is counted when the server hears of it.
        support.until(lambda: sum(counts()[0].values()) >= sum(codes.values()))
        self.assertEqual(counts(), (codes, outcomes))
        for name, label in (("reprise_requests_total", "code"), ("reprise_request_deadline_total", "outcome")):
            self.assertEqual(sum(self.counted(name, label).values()), len(self.made), name)

    def check_ended(self, code, outcome, count):
        """`count` calls to `slow` ended so, and all others were answered."""
        answered = len(self.made) - count
        self.check("slow", {"OK": answered, code: count}, {"met": answered, outcome: count})

    def test_met_and_invalid(self):
        for _ in range(3):
            self.send("simple")
            self.send("simple", deadline=None)
            self.send("simple", rows=9)
        self.send("simple", version="one")
        self.send("simple", version="7")
        self.check("simple", {"OK": 6, "INVALID_ARGUMENT": 3}, {"met": 6, "invalid": 3})
        self.check("", {"INVALID_ARGUMENT": 1, "NOT_FOUND": 1}, {"invalid": 2})
        self.assertEqual(self.counted("reprise_request_rows_total", "model"), {"simple": 6})

    def test_failed(self):
        self.stub.RepositoryModelUnload(unload("gone"), timeout=60)
        self.send("gone", version="1")
        self.check("", {"UNAVAILABLE": 1}, {"failed": 1})

    def test_late(self):
        """The batch began before the deadline and ended after it."""
        self.assertEqual(self.send("late", deadline=0.5).code().name, "DEADLINE_EXCEEDED")
        self.check("late", {"DEADLINE_EXCEEDED": 1}, {"late": 1})

    def test_cancelled_while_it_runs(self):
        call = self.send("late")
        support.until(lambda: by_label(self.daemon.metrics(), "reprise_slots_in_flight", "device")["cpu"] > 0)
        call.cancel()
        self.check("late", {"CANCELLED": 1}, {"cancelled": 1})

    def test_dropped_queue(self):
        self.hold("slow")
        for _ in range(2):
            self.send("slow", timeout=1000)
        self.check_ended("DEADLINE_EXCEEDED", "dropped_queue", 2)

    def test_cancelled_while_it_waits(self):
        self.hold("slow")
        for _ in range(2):
            self.send_there("slow").cancel()
        self.check_ended("CANCELLED", "cancelled", 2)

    def test_rejected_admission(self):
        self.send_until_one_ends_badly("slow")
        refused = sum(call.code() != grpc.StatusCode.OK for call in self.made)
        self.check_ended("RESOURCE_EXHAUSTED", "rejected_admission", refused)


class StuckTest(support.DaemonTest):
    binary = support.DELAYED
    models = ("simple",)
    flags = ("--test-delay=simple=600s",)

    def test_the_pages_are_served_while_the_worker_is_stuck(self):
        channel = calls.channel(self.daemon.address)
        self.addCleanup(channel.close)
        call = calls.infer_method(channel).future(ones(), timeout=600)
        support.until(lambda: by_label(self.daemon.metrics(), "reprise_slots_in_flight", "device")["cpu"] > 0)
        for _ in range(20):
            self.assertIn("reprise_build_info", self.daemon.metrics())
        self.assertEqual((self.daemon.probe("/livez"), self.daemon.probe("/")), (200, 200))
        self.assertFalse(call.done())


del SlowModelsTest

if __name__ == "__main__":
    support.main()
