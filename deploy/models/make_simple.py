"""Writes the sample model `simple`: the sum and the difference of two inputs.

It has the names, types and shapes that the example clients of the protocol
expect: INPUT0 and INPUT1, 16 integers each, OUTPUT0 their sum and OUTPUT1
their difference. Needs the onnx package (deploy/setup --tools).

    python3 deploy/models/make_simple.py --out /tmp/simple
"""
import argparse
import pathlib

import onnx
from onnx import TensorProto, helper

HERE = pathlib.Path(__file__).resolve().parent / "simple"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--out", type=pathlib.Path, default=HERE,
                        help="the model's folder; 1/model.onnx is written there (default: %(default)s)")
    return parser.parse_args()


def main():
    out = arguments().out

    def tensor(name):
        return helper.make_tensor_value_info(name, TensorProto.INT32, ["batch", 16])

    graph = helper.make_graph(
        [helper.make_node("Add", ["INPUT0", "INPUT1"], ["OUTPUT0"], "sum"),
         helper.make_node("Sub", ["INPUT0", "INPUT1"], ["OUTPUT1"], "difference")],
        "simple", [tensor("INPUT0"), tensor("INPUT1")], [tensor("OUTPUT0"), tensor("OUTPUT1")])
    model = helper.make_model(graph, producer_name="reprise",
                              opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.checker.check_model(model, full_check=True)
    (out / "1").mkdir(parents=True, exist_ok=True)
    onnx.save(model, out / "1" / "model.onnx")


if __name__ == "__main__":
    main()
