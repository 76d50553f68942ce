"""Requests as plain protobuf messages: also those that a client library refuses to build.

    infer([tensor("INPUT0"), tensor("INPUT1")], raw=[bytes(64), bytes(64)])
"""
import struct

import numpy as np
from tritonclient.grpc import service_pb2 as pb


class Unsigned(int):
    """A parameter that is sent as uint64_param."""


def set_parameters(to, values):
    for key, value in values.items():
        field = {bool: "bool_param", int: "int64_param", str: "string_param", float: "double_param",
                 bytes: "bytes_param", Unsigned: "uint64_param"}[type(value)]
        setattr(to[key], field, value)


def tensor(name, datatype="INT32", shape=(1, 16), parameters=None, **contents):
    """An input; `contents` are typed fields, as int_contents=[1, 2]."""
    t = pb.ModelInferRequest.InferInputTensor(name=name, datatype=datatype, shape=shape)
    set_parameters(t.parameters, parameters or {})
    for field, values in contents.items():
        getattr(t.contents, field).extend(values)
    return t


def output(name, **parameters):
    o = pb.ModelInferRequest.InferRequestedOutputTensor(name=name)
    set_parameters(o.parameters, parameters)
    return o


def infer(inputs, raw=(), outputs=(), model="simple", version="", id="", parameters=None):
    r = pb.ModelInferRequest(model_name=model, model_version=version, id=id, inputs=inputs, outputs=outputs,
                             raw_input_contents=raw)
    set_parameters(r.parameters, parameters or {})
    return r


def simple(rows=1, value=3, **fields):
    """A good request to a model as `simple` is: INPUT0 counts up, INPUT1 is `value` everywhere."""
    first = np.arange(16 * rows, dtype=np.int32)
    return infer([tensor(name, shape=(rows, 16)) for name in ("INPUT0", "INPUT1")],
                 [first.tobytes(), np.full(16 * rows, value, np.int32).tobytes()], **fields)


def answers(reply, rows=1, value=3):
    """Whether `reply` is that of simple(rows, value)."""
    first = np.arange(16 * rows, dtype=np.int32)
    return [(o.name, list(o.shape)) for o in reply.outputs] == [("OUTPUT0", [rows, 16]), ("OUTPUT1", [rows, 16])] and \
        list(reply.raw_output_contents) == [(first + value).tobytes(), (first - value).tobytes()]


def strings(*elements):
    """BYTES in raw form."""
    return b"".join(struct.pack("<I", len(e)) + e for e in elements)


def load(model, repository="", **parameters):
    """RepositoryModelLoad; `file` stands for "file:1/model.onnx"."""
    r = pb.RepositoryModelLoadRequest(repository_name=repository, model_name=model)
    set_parameters(r.parameters,
                   {"file:1/model.onnx" if key == "file" else key: value for key, value in parameters.items()})
    return r


def unload(model, repository="", **parameters):
    r = pb.RepositoryModelUnloadRequest(repository_name=repository, model_name=model)
    set_parameters(r.parameters, parameters)
    return r
