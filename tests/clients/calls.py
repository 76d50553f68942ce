"""ModelInfer by plain gRPC futures: load that checks every answer."""
import collections
import threading
import time

import grpc
import numpy as np
from tritonclient.grpc import service_pb2 as pb

METHOD = "/inference.GRPCInferenceService/ModelInfer"


def channel(address):
    """A connection of its own."""
    return grpc.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)])


def infer_method(one_channel):
    return one_channel.unary_unary(METHOD, request_serializer=pb.ModelInferRequest.SerializeToString,
                                   response_deserializer=pb.ModelInferResponse.FromString)


def request(model, inputs, **parameters):
    """`inputs`: name -> INT32 array with the batch in front. Parameters are integers."""
    r = pb.ModelInferRequest(model_name=model)
    for name, array in inputs.items():
        r.inputs.add(name=name, datatype="INT32", shape=array.shape)
        r.raw_input_contents.append(array.astype(np.int32).tobytes())
    for key, value in parameters.items():
        r.parameters[key].int64_param = value
    return r


def outputs(reply):
    """name -> INT32 array."""
    return {o.name: np.frombuffer(raw, np.int32).reshape(o.shape) for o, raw in zip(reply.outputs,
                                                                                    reply.raw_output_contents)}


class Tally:
    """How calls ended, counted by any thread."""

    def __init__(self):
        self._lock = threading.Lock()
        self.codes = collections.Counter()
        self.wrong = []  # answers that are not the caller's own, and unexpected errors

    def count(self, code):
        with self._lock:
            self.codes[code] += 1

    def fault(self, text):
        with self._lock:
            self.wrong.append(text)

    @property
    def total(self):
        with self._lock:
            return sum(self.codes.values())


class Callers:
    """Threads that call `step(index)` over and over until stopped; an exception of `step` is a fault."""

    def __init__(self, count, step, tally):
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(i, step, tally)) for i in range(count)]

    def _run(self, index, step, tally):
        try:
            while not self._stop.is_set():
                step(index)
        except Exception as e:  # reported by the test
            tally.fault(f"caller {index}: {e!r}")

    def __enter__(self):
        for t in self._threads:
            t.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for t in self._threads:
            t.join()


def pace(rate, seconds, started):
    """Yields the index of each call of an open loop when it is due."""
    idle = threading.Event()
    for i in range(int(rate * seconds)):
        idle.wait(max(0.0, started + i / rate - time.monotonic()))
        yield i
