"""Hot reloads under load: no call fails, and every row is the caller's own."""
import itertools
import random
import threading

import support

if support.found("tritonclient.grpc"):
    import grpc
    import numpy as np

    import calls

RELOADS = 100
TAGGED_REQUESTS = 6000


class ReloadTest(support.DaemonTest):
    models = ("simple",)
    flags = ("--model-control-mode=explicit", "--load-model=simple")

    def setUp(self):
        self.tally = calls.Tally()

    def check_reply(self, reply, tag):
        """Whether every row says `tag`: INPUT0 holds the tag of its row, INPUT1 ones."""
        got = calls.outputs(reply)
        expected = tag.reshape(-1, 1) + np.arange(16)
        if not (np.array_equal(got["OUTPUT0"], expected + 1) and np.array_equal(got["OUTPUT1"], expected - 1)):
            self.tally.fault(f"rows of another caller: sent {tag.tolist()}, got {got['OUTPUT0'][:, 0].tolist()}")

    @staticmethod
    def tagged(tag, **parameters):
        first = tag.reshape(-1, 1) + np.arange(16)
        return calls.request("simple", {"INPUT0": first, "INPUT1": np.ones_like(first)}, **parameters)

    def test_a_hundred_reloads_fail_no_request(self):
        channels = [calls.channel(self.daemon.address) for _ in range(4)]
        methods = [calls.infer_method(c) for c in channels]
        tags = itertools.count(1000, 1000)

        def step(index):
            tag = next(tags) + np.arange(1 + index % 8)
            self.check_reply(methods[index % 4](self.tagged(tag), timeout=30), tag)
            self.tally.count("OK")

        client = self.client()
        with calls.Callers(8, step, self.tally):
            for _ in range(RELOADS):
                client.load_model("simple")
        for c in channels:
            c.close()
        self.assertEqual(self.tally.wrong[:5], [])
        self.assertGreater(self.tally.total, RELOADS)
        self.assertTrue(client.is_model_ready("simple"))

    def test_tagged_rows_stay_with_their_callers(self):
        """Random rows, a tenth cancelled, a tenth with a short queue timeout, a reload every second."""
        channels = [calls.channel(self.daemon.address) for _ in range(4)]
        methods = [calls.infer_method(c) for c in channels]
        tags = itertools.count(1000, 1000)
        allowed = {"plain": {"OK"}, "cancelled": {"OK", "CANCELLED"}, "timeout": {"OK", "DEADLINE_EXCEEDED"}}
        randoms = [random.Random(seed) for seed in range(16)]

        def step(index):
            r = randoms[index]
            tag = next(tags) + np.arange(r.randint(1, 8))
            kind = r.choices(("plain", "cancelled", "timeout"), (8, 1, 1))[0]
            parameters = {"timeout": r.randint(50, 5000)} if kind == "timeout" else {}
            future = methods[index % 4].future(self.tagged(tag, **parameters), timeout=60)
            if kind == "cancelled":
                threading.Event().wait(r.uniform(0, 0.002))
                future.cancel()
            code = future.code().name  # waits for the end
            if code not in allowed[kind]:
                self.tally.fault(f"a {kind} call ended with {code}: {future.details()}")
            elif code == "OK":
                self.check_reply(future.result(), tag)
            self.tally.count(code)

        client = self.client()
        with calls.Callers(16, step, self.tally):
            second = threading.Event()
            while self.tally.total < TAGGED_REQUESTS and not self.tally.wrong:
                client.load_model("simple")
                second.wait(1)
        for c in channels:
            c.close()
        self.assertEqual(self.tally.wrong[:5], [])
        self.assertGreater(self.tally.codes["CANCELLED"], 0)
        self.assertGreater(self.tally.codes["OK"], TAGGED_REQUESTS // 2)
        self.assertTrue(client.is_server_ready())


if __name__ == "__main__":
    support.main()
