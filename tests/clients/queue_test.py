"""How a good call ends that is not answered: queue full, queue timeout, deadline, cancelled.

After each the server answers a good one. That the server shuts down is in exit_test.py.
"""
import collections

import support
from scrape import grown
from slow_models import SlowModelsTest

if support.found("tritonclient.grpc"):
    from tritonclient.grpc import service_pb2 as pb

    from messages import answers, simple

DELAY_MS = 200
DELAYS = [f"--test-delay={name}={DELAY_MS}ms" for name in ("slow", "hasty", "bounded", "ranked")]


class QueueTest(SlowModelsTest):
    flags = DELAYS

    @classmethod
    def prepare(cls, repository):
        support.copy_simple(repository, "slow")
        support.copy_simple(repository, "hasty",
                            more="dynamic_batching { default_queue_policy { default_timeout_microseconds: 1000 } }")
        support.copy_simple(repository, "bounded",
                            more="dynamic_batching { default_queue_policy { max_queue_size: 2 } }")
        support.copy_simple(repository, "ranked", more="""dynamic_batching {
            priority_levels: 2 default_priority_level: 1
            priority_queue_policy { key: 2 value { max_queue_size: 1 } }
        }""")

    def assert_good(self, model="simple"):
        self.assertTrue(answers(self.stub.ModelInfer(simple(model=model), timeout=60)))


class FullTest(QueueTest):
    code = "RESOURCE_EXHAUSTED"
    flags = ("--max-queue-requests=4", *DELAYS)

    def check(self, model, *texts, **parameters):
        refused = self.send_until_one_ends_badly(model, **parameters)
        self.assertEqual(refused.code().name, self.code, refused.details())
        for text in ("queue is full", *texts):
            self.assertIn(text, refused.details())
        self.assertGreaterEqual(int(dict(refused.trailing_metadata())["grpc-retry-pushback-ms"]), 1)
        self.assertEqual({call.code().name for call in self.made}, {"OK", self.code})
        self.assert_good(model)

    def test_by_the_models_own_bound(self):
        self.check("bounded", "maximum queue size 2")

    def test_by_the_bound_of_a_priority(self):
        self.check("ranked", "maximum queue size 1", "priority 2", priority=2)

    def test_by_the_flag(self):
        self.check("slow", "the limit is 4")


class FullAsTritonSaysTest(FullTest):
    """For retry policies that are made for Triton's code."""
    code = "UNAVAILABLE"
    flags = ("--queue-full-unavailable", "--max-queue-bytes=600", *DELAYS)

    def test_by_the_flag(self):
        self.check("slow", "limit of 600")


class EndsTest(QueueTest):
    """Calls that end while they wait never run."""

    def setUp(self):
        super().setUp()
        self.model = "slow"

    def executions(self):
        statistics = self.stub.ModelStatistics(pb.ModelStatisticsRequest(name=self.model), timeout=30)
        return statistics.model_stats[0].execution_count

    def check(self, make, code, *texts, counted=()):
        """`make` returns a call that ends with `code`; the server counts such calls as that, or as one of `counted`."""
        runs, page = self.executions(), self.daemon.metrics()
        ended = make()
        self.assertEqual(ended.code().name, code, ended.details())
        for text in texts:
            self.assertIn(text, ended.details())
        codes = collections.Counter(call.code().name for call in self.made)
        self.assertLessEqual(set(codes), {"OK", code})
        self.assert_good()  # to `simple`, which counts for itself
        self.assertEqual(self.executions() - runs, codes["OK"], "a call that had ended was run")

        def all_counted():
            found = grown(page, self.daemon.metrics(), "reprise_requests_total", "code", model=self.model)
            ok = found.pop("OK", 0)
            return ok == codes["OK"] and set(found) <= {code, *counted} and sum(found.values()) == codes[code]
        support.until(all_counted)

    def test_timeout_of_the_request(self):
        def make():
            self.hold("slow")
            return self.send("slow", timeout=1000)
        self.check(make, "DEADLINE_EXCEEDED", "request timeout expired", "its timeout of 1000 us")

    def test_default_timeout_of_the_model(self):
        self.model = "hasty"
        self.check(lambda: self.send_until_one_ends_badly("hasty"), "DEADLINE_EXCEEDED", "request timeout expired",
                   "default timeout of 1000 us")

    def test_a_longer_timeout_of_the_request_changes_nothing(self):
        self.model = "hasty"
        self.check(lambda: self.send_until_one_ends_badly("hasty", timeout=60_000_000), "DEADLINE_EXCEEDED",
                   "request timeout expired", "default timeout of 1000 us")

    def test_deadline_of_the_caller(self):
        """The client ends the call by itself at its deadline, and the server may hear of that first."""
        def make():
            self.hold("slow", count=4)
            return self.send("slow", deadline=2 * DELAY_MS / 1000)
        self.check(make, "DEADLINE_EXCEEDED", counted=("CANCELLED",))

    def test_cancelled_by_the_client(self):
        def make():
            self.hold("slow")
            call = self.send_there("slow")
            call.cancel()
            return call
        self.check(make, "CANCELLED")


del SlowModelsTest, QueueTest

if __name__ == "__main__":
    support.main()
