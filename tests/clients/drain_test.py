"""SIGTERM under load: not ready at once, everything accepted is answered, exit status 0."""
import threading
import time

import support

if support.found("tritonclient.grpc"):
    import numpy as np
    from tritonclient.grpc import service_pb2 as pb

    import calls

RATE = 200  # calls a second
LAME_DUCK = 1  # seconds between SIGTERM and the end of accepting


class Call:
    """One call of the open loop: when it began, and how it ended."""

    def __init__(self, method, request):
        self.began = time.monotonic()
        self.done = threading.Event()
        self.future = method.future(request, timeout=30)
        self.future.add_done_callback(lambda _: self.done.set())

    @property
    def code(self):
        return self.future.code().name


class DrainTest(support.DaemonTest):
    models = ("simple",)
    flags = (f"--lame-duck-secs={LAME_DUCK}", "--exit-timeout-secs=20")
    request = staticmethod(lambda: calls.request("simple", {n: np.ones((1, 16)) for n in ("INPUT0", "INPUT1")}))

    def test_sigterm_under_load_loses_no_call(self):
        channel = calls.channel(self.daemon.address)
        method, request = calls.infer_method(channel), self.request()
        method(request, timeout=30)
        ready = channel.unary_unary("/inference.GRPCInferenceService/ServerReady",
                                    request_serializer=pb.ServerReadyRequest.SerializeToString,
                                    response_deserializer=pb.ServerReadyResponse.FromString)
        made, terminated, not_ready = [], None, None
        started = time.monotonic()
        for i in calls.pace(RATE, 1 + LAME_DUCK + 1, started):
            made.append(Call(method, request))
            if i == RATE:
                terminated = time.monotonic()
                self.daemon.terminate()
            if i == RATE + RATE // 4:
                not_ready = not ready(pb.ServerReadyRequest(), timeout=5).ready
                self.assertEqual(self.daemon.probe("/readyz"), 503)
                self.assertEqual(self.daemon.probe("/livez"), 200)
        for call in made:
            self.assertTrue(call.done.wait(timeout=40), "a call was never answered")
        self.assertEqual(self.daemon.process.wait(timeout=30), 0, self.daemon.log)
        channel.close()

        goaway = terminated + LAME_DUCK - 0.02
        codes = {call.code for call in made}
        early = [(call.code, call.future.details(), call.began - terminated)
                 for call in made if call.began < goaway and call.code != "OK"]
        self.assertEqual(early[:5], [], "calls made before GOAWAY must succeed")
        self.assertLessEqual(codes, {"OK", "UNAVAILABLE"})
        self.assertIn("UNAVAILABLE", codes, "the load has to outlive the server for this test to say anything")
        self.assertTrue(not_ready, "ServerReady is false from SIGTERM on")


class SlowDrainTest(DrainTest):
    """The same where each batch takes 100 ms: many calls are in flight when accepting ends."""
    binary = support.DELAYED
    models = ()
    flags = (*DrainTest.flags, "--test-delay=simple=100ms")

    @classmethod
    def prepare(cls, repository):
        support.copy_simple(repository, "simple", 32, "dynamic_batching { }")


if __name__ == "__main__":
    support.main()
