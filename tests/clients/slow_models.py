"""A daemon whose models take their time, and calls that are known to wait in it."""
import support

if support.found("tritonclient.grpc"):
    import grpc
    from tritonclient.grpc import service_pb2_grpc

    import calls
    from messages import simple
    from scrape import by_label


class SlowModelsTest(support.DaemonTest):
    """Copies of `simple` whose batches have one row each."""
    binary = support.DELAYED
    models = ("simple",)

    def setUp(self):
        channel = calls.channel(self.daemon.address)
        self.addCleanup(channel.close)
        self.stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        self.made = []  # all calls of the test
        self.addCleanup(lambda: [call.code() for call in self.made])  # they end before the next test

    def send(self, model, deadline=60, rows=1, version="", id="", **parameters):
        request = simple(rows, model=model, version=version, id=id, parameters=parameters)
        self.made.append(self.stub.ModelInfer.future(request, timeout=deadline))
        return self.made[-1]

    def send_there(self, model):
        """A call that is known to have arrived: it is so large that it shows in the count of bytes."""
        def received():
            return by_label(self.daemon.metrics(), "reprise_grpc_received_bytes_total", "method")["ModelInfer"]
        id, before = "a long name " * 10_000, received()
        call = self.send(model, id=id)
        support.until(lambda: received() > before + len(id))
        return call

    def hold(self, model, count=3):
        """Makes calls until `count` are known to wait: who comes next has that many runs before it."""
        def waits():
            self.send_there(model)
            return by_label(self.daemon.metrics(), "reprise_queue_requests", "model")[model] >= count
        support.until(waits)

    def send_until_one_ends_badly(self, model, **parameters):
        def ended():
            self.send(model, **parameters)
            return next((call for call in self.made if call.done() and call.code() != grpc.StatusCode.OK), None)
        return support.until(ended)
