"""Writes a repository of seeded models that GPU and CPU are compared and measured with.

    build/tools/venv/bin/python3 tests/gpu/make_models.py --out /tmp/models [--models mlp,encoder] [--max-batch 4]

mlp            [N,256] -> 1024 -> 1024 -> 10, Gemm and Relu, Softmax at the end
encoder        6 layers, hidden 384, 12 heads, 128 places, feed-forward 1536, attention in its parts; embeddings
               [N,128,384] and an additive mask [N,128]; LayerNormalization
encoder_parts  the same with its norms in parts, as opset 13 has them
encoder_ids    the same with token ids and a mask of 0 and 1 (INT64 [N,128]), word and place embeddings by Gather, and
               a pooled output (Gather of place 0, Gemm, Tanh)
small_encoder, small_encoder_parts, small_encoder_ids
               1 layer, hidden 48, 3 heads, 16 places: for where a run is slow
one_kernel     [N,1024] FP32, 4 KB a row: one Relu
sinh           [N,4] FP32: one Sinh, whose kernel a test replaces
gpu_bound      [N,1024], about 17 GFLOP a row: what the wire cannot be the limit of

The same seed writes the same bytes. Needs numpy and onnx; exits with 77 without them.
"""
import argparse
import dataclasses
import pathlib
import shutil
import sys

try:
    import numpy
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ModuleNotFoundError as missing:
    print(f"skipped: {missing} (deploy/setup --tests)")
    sys.exit(77)

SIMPLE = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "models" / "simple"

IR_VERSION = 8


class Writer:
    """One graph, written node by node; values are named after what makes them."""

    def __init__(self, name, opset, seed):
        self.name, self.opset = name, opset
        self.random = numpy.random.default_rng(seed)
        self.nodes, self.weights, self.inputs, self.outputs = [], [], [], []
        self.named = set()

    def input(self, name, dims, dtype=TensorProto.FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, dtype, ["N", *dims]))
        return name

    def output(self, name, dims, dtype=TensorProto.FLOAT):
        self.outputs.append(helper.make_tensor_value_info(name, dtype, ["N", *dims]))

    def weight(self, name, array):
        """An initialiser; the second one of a name is the first."""
        if name not in self.named:
            self.named.add(name)
            self.weights.append(numpy_helper.from_array(numpy.asarray(array, order="C"), name))
        return name

    def noise(self, name, dims, deviation, mean=0.0):
        return self.weight(name, (mean + deviation * self.random.standard_normal(dims)).astype(numpy.float32))

    def number(self, name, value, dtype=numpy.float32):
        return self.weight(name, numpy.array(value, dtype))

    def node(self, op, inputs, output, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], output, **attributes))
        return output

    def model(self):
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.weights)
        model = helper.make_model(graph, producer_name="reprise",
                                  opset_imports=[helper.make_opsetid("", self.opset)])
        model.ir_version = IR_VERSION
        onnx.checker.check_model(model, full_check=True)
        return model


def mlp(seed=1, sizes=(256, 1024, 1024, 10)):
    w = Writer("mlp", 17, seed)
    x = w.input("x", [sizes[0]])
    for i, (fan_in, fan_out) in enumerate(zip(sizes, sizes[1:])):
        kernel = w.noise(f"w{i}", (fan_out, fan_in), (2 / fan_in) ** 0.5)
        x = w.node("Gemm", [x, kernel, w.noise(f"b{i}", (fan_out,), 0.1)], f"linear{i}", transB=1)
        if i + 2 < len(sizes):
            x = w.node("Relu", [x], f"relu{i}")
    w.output(w.node("Softmax", [x], "y", axis=-1), [sizes[-1]])
    return w.model()


@dataclasses.dataclass
class Shape:
    layers: int = 6
    hidden: int = 384
    heads: int = 12
    length: int = 128
    inner: int = 1536
    words: int = 1000


SMALL = Shape(layers=1, hidden=48, heads=3, length=16, inner=192, words=50)


class Encoder:
    """A transformer encoder, normalised after each residual, as exporters of PyTorch models write it."""

    def __init__(self, name, shape, parts=False, ids=False, seed=2):
        self.w = Writer(name, 13 if parts else 17, seed)
        self.shape, self.parts, self.ids = shape, parts, ids

    def build(self):
        w, s = self.w, self.shape
        x, mask = self.from_ids() if self.ids else self.from_embeddings()
        for i in range(s.layers):
            x = self.layer(f"layer{i}", x, mask)
        w.node("Identity", [x], "hidden_states")
        w.output("hidden_states", [s.length, s.hidden])
        if self.ids:
            first = w.node("Gather", [x, w.number("zero", 0, numpy.int64)], "first_place", axis=1)
            w.node("Tanh", [self.gemm("pooler", first)], "pooled")
            w.output("pooled", [s.hidden])
        return w.model()

    def from_embeddings(self):
        w, s = self.w, self.shape
        x = w.input("embeddings", [s.length, s.hidden])
        return x, self.over_heads(w.input("mask", [s.length]))

    def from_ids(self):
        w, s = self.w, self.shape
        ids = w.input("input_ids", [s.length], TensorProto.INT64)
        mask = w.input("attention_mask", [s.length], TensorProto.INT64)
        word = w.node("Gather", [w.noise("word_embeddings", (s.words, s.hidden), 0.5), ids], "embedded")
        place = w.noise("place_embeddings", (1, s.length, s.hidden), 0.5)
        x = self.norm("embeddings_norm", w.node("Add", [word, place], "placed"))
        seen = w.node("Cast", [self.over_heads(mask)], "seen", to=TensorProto.FLOAT)
        hidden = w.node("Sub", [w.number("one", 1), seen], "hidden_places")
        return x, w.node("Mul", [hidden, w.number("far_below", -10000)], "mask_added")

    def over_heads(self, mask):
        """[N, length] -> [N, 1, 1, length]."""
        axes = self.w.weight("head_and_query", numpy.array([1, 2], numpy.int64))
        return self.w.node("Unsqueeze", [mask, axes], f"{mask}_over_heads")

    def layer(self, name, x, mask):
        w = self.w
        mixed = self.attention(f"{name}.attention", x, mask)
        x = self.norm(f"{name}.norm1", w.node("Add", [mixed, x], f"{name}.residual1"))
        up = self.linear(f"{name}.up", x, self.shape.hidden, self.shape.inner)
        down = self.linear(f"{name}.down", self.gelu(f"{name}.gelu", up), self.shape.inner, self.shape.hidden)
        return self.norm(f"{name}.norm2", w.node("Add", [down, x], f"{name}.residual2"))

    def attention(self, name, x, mask):
        w, s = self.w, self.shape
        q = self.to_heads(f"{name}.q", x, [0, 2, 1, 3])
        k = self.to_heads(f"{name}.k", x, [0, 2, 3, 1])
        v = self.to_heads(f"{name}.v", x, [0, 2, 1, 3])
        scores = w.node("MatMul", [q, k], f"{name}.products")
        scores = w.node("Div", [scores, w.number("root_of_width", (s.hidden / s.heads) ** 0.5)], f"{name}.scores")
        scores = w.node("Add", [scores, mask], f"{name}.masked")
        shares = w.node("Softmax", [scores], f"{name}.shares", axis=-1)
        mixed = w.node("Transpose", [w.node("MatMul", [shares, v], f"{name}.mixed")], f"{name}.back",
                       perm=[0, 2, 1, 3])
        flat = w.weight("flat_dims", numpy.array([0, 0, s.hidden], numpy.int64))
        return self.linear(f"{name}.out", w.node("Reshape", [mixed, flat], f"{name}.flat"), s.hidden, s.hidden)

    def to_heads(self, name, x, perm):
        w, s = self.w, self.shape
        dims = w.weight("head_dims", numpy.array([0, 0, s.heads, s.hidden // s.heads], numpy.int64))
        split = w.node("Reshape", [self.linear(name, x, s.hidden, s.hidden), dims], f"{name}.split")
        return w.node("Transpose", [split], f"{name}.heads", perm=perm)

    def linear(self, name, x, fan_in, fan_out):
        w = self.w
        product = w.node("MatMul", [x, w.noise(f"{name}.weight", (fan_in, fan_out), fan_in ** -0.5)],
                         f"{name}.product")
        return w.node("Add", [w.noise(f"{name}.bias", (fan_out,), 0.1), product], f"{name}.sum")

    def gemm(self, name, x):
        w, width = self.w, self.shape.hidden
        kernel = w.noise(f"{name}.weight", (width, width), width ** -0.5)
        return w.node("Gemm", [x, kernel, w.noise(f"{name}.bias", (width,), 0.1)], f"{name}.sum", transB=1)

    def gelu(self, name, x):
        """x/2 (1 + erf(x/sqrt(2))), as exporters write it."""
        w = self.w
        erf = w.node("Erf", [w.node("Div", [x, w.number("root_of_two", 2 ** 0.5)], f"{name}.scaled")], f"{name}.erf")
        gate = w.node("Add", [erf, w.number("one", 1)], f"{name}.gate")
        return w.node("Mul", [w.node("Mul", [x, gate], f"{name}.gated"), w.number("half", 0.5)], f"{name}.y")

    def norm(self, name, x):
        w, width = self.w, self.shape.hidden
        scale = w.noise(f"{name}.scale", (width,), 0.1, mean=1.0)
        bias = w.noise(f"{name}.bias", (width,), 0.1)
        if not self.parts:
            return w.node("LayerNormalization", [x, scale, bias], f"{name}.y", axis=-1, epsilon=1e-5)
        centred = w.node("Sub", [x, w.node("ReduceMean", [x], f"{name}.mean", axes=[-1])], f"{name}.centred")
        squares = w.node("Pow", [centred, w.number("two", 2)], f"{name}.squares")
        variance = w.node("ReduceMean", [squares], f"{name}.variance", axes=[-1])
        deviation = w.node("Sqrt", [w.node("Add", [variance, w.number("epsilon", 1e-5)], f"{name}.above")],
                           f"{name}.deviation")
        unit = w.node("Div", [centred, deviation], f"{name}.unit")
        return w.node("Add", [w.node("Mul", [unit, scale], f"{name}.scaled"), bias], f"{name}.y")


def one_kernel():
    w = Writer("one_kernel", 17, 0)
    w.output(w.node("Relu", [w.input("x", [1024])], "y"), [1024])
    return w.model()


def sinh():
    w = Writer("sinh", 17, 0)
    w.output(w.node("Sinh", [w.input("x", [4])], "y"), [4])
    return w.model()


def gpu_bound(seed=3, width=1024, products=8):
    """Every row becomes a matrix [width, width], which is multiplied again and again."""
    w = Writer("gpu_bound", 17, seed)
    x = w.node("Unsqueeze", [w.input("x", [width]), w.weight("axis", numpy.array([1], numpy.int64))], "row")
    x = w.node("Mul", [x, w.noise("spread", (width, 1), 1.0)], "matrix")
    kernel = w.noise("kernel", (width, width), 1.5 * width ** -0.5)
    for i in range(products):
        x = w.node("Tanh", [w.node("MatMul", [x, kernel], f"product{i}")], f"tanh{i}")
    w.output(w.node("ReduceMean", [x], "y", axes=[1], keepdims=0), [width])
    return w.model()


def encoder(name, shape, **how):
    return lambda: Encoder(name, shape, **how).build()


# Name: how it is made, rows of its largest batch.
MODELS = {
    "mlp": (mlp, 64),
    "encoder": (encoder("encoder", Shape()), 32),
    "encoder_parts": (encoder("encoder_parts", Shape(), parts=True), 32),
    "encoder_ids": (encoder("encoder_ids", Shape(), ids=True), 32),
    "small_encoder": (encoder("small_encoder", SMALL), 4),
    "small_encoder_parts": (encoder("small_encoder_parts", SMALL, parts=True), 4),
    "small_encoder_ids": (encoder("small_encoder_ids", SMALL, ids=True), 4),
    "one_kernel": (one_kernel, 8),
    "sinh": (sinh, 8),
    "gpu_bound": (gpu_bound, 8),
}


def write(out, names=tuple(MODELS), max_batch=None):
    """Each model of `names` into the repository `out`, its batches bounded by `max_batch` too."""
    for name in names:
        make, rows = MODELS[name]
        folder = pathlib.Path(out) / name
        (folder / "1").mkdir(parents=True, exist_ok=True)
        (folder / "1" / "model.onnx").write_bytes(make().SerializeToString(deterministic=True))
        rows = min(rows, max_batch or rows)
        (folder / "config.pbtxt").write_text(
            f'name: "{name}"\nplatform: "onnxruntime_onnx"\nmax_batch_size: {rows}\ndynamic_batching {{ }}\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--out", type=pathlib.Path, required=True, help="the repository's folder")
    parser.add_argument("--models", default=",".join(MODELS), help="which, with commas (default: all)")
    parser.add_argument("--max-batch", type=int, help="rows of a batch, at most (default: each model's own)")
    parser.add_argument("--with-simple", action="store_true", help="the sample model `simple` besides")
    args = parser.parse_args()
    names = args.models.split(",")
    unknown = [name for name in names if name not in MODELS]
    if unknown:
        parser.error(f"no model {', '.join(unknown)}; there are {', '.join(MODELS)}")
    write(args.out, names, args.max_batch)
    if args.with_simple:
        shutil.copytree(SIMPLE, args.out / "simple", dirs_exist_ok=True)


if __name__ == "__main__":
    main()
