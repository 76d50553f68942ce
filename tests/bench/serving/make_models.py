"""make_models.py OUT: writes the repository that `run` serves.

identity_4   INT32 [1]       identity_4096   INT32 [1024]      identity_600000   INT32 [150000]

Each is one Identity node with a batch axis in front, INPUT0 -> OUTPUT0, dynamic batching on, and is named after the
bytes of a row. The files are written field by field, so that measuring needs no Python package.
"""
import pathlib
import sys

INT32 = 6  # TensorProto.DataType
ROWS = (1, 1024, 150000)


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def number(field, value):
    return varint(field << 3) + varint(value)


def message(field, *parts):
    body = b"".join(parts)
    return varint(field << 3 | 2) + varint(len(body)) + body


def text(field, value):
    return message(field, value.encode())


def value_info(field, name, elements):
    """A ValueInfoProto of INT32 [N, elements]."""
    shape = message(2, message(1, text(2, "N")), message(1, number(1, elements)))
    return message(field, text(1, name), message(2, message(1, number(1, INT32), shape)))


def identity(elements):
    """A ModelProto: IR 8, opset 17."""
    node = message(1, text(1, "INPUT0"), text(2, "OUTPUT0"), text(4, "Identity"))
    graph = message(7, node, text(2, "identity"), value_info(11, "INPUT0", elements),
                    value_info(12, "OUTPUT0", elements))
    return number(1, 8) + graph + message(8, number(2, 17))


def config(name, elements):
    tensors = "".join(f'{kind} [ {{ name: "{tensor}" data_type: TYPE_INT32 dims: [ {elements} ] }} ]\n'
                      for kind, tensor in (("input", "INPUT0"), ("output", "OUTPUT0")))
    return f'name: "{name}"\nplatform: "onnxruntime_onnx"\nmax_batch_size: 32\n{tensors}dynamic_batching {{ }}\n'


def write(out):
    for elements in ROWS:
        name = f"identity_{4 * elements}"
        (out / name / "1").mkdir(parents=True, exist_ok=True)
        (out / name / "1" / "model.onnx").write_bytes(identity(elements))
        (out / name / "config.pbtxt").write_text(config(name, elements))


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]))
