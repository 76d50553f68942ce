"""Trains the sample model `digits` and writes it, with its sample images.

A small convolutional net over the 1,797 handwritten digits of 8 x 8 pixels
that scikit-learn ships, trained with plain numpy in about a minute. A fifth of
the digits is held out: it decides the printed accuracy, and the sample images
are taken from it. Needs numpy, scikit-learn and onnx (deploy/setup --tools).

    python3 deploy/models/train_digits.py --out /tmp/digits
"""
import argparse
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import png

HERE = pathlib.Path(__file__).resolve().parent / "digits"
SEED = 7
EPOCHS = 40
BATCH = 32
WANTED_ACCURACY = 0.97


def patches(images):
    """[n, c, h, w] -> [n, h, w, c * 9]: every 3 x 3 window, zero-padded."""
    n, c, h, w = images.shape
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    return windows.transpose(0, 2, 3, 1, 4, 5).reshape(n, h, w, c * 9)


def unpatch(gradient, channels):
    """The transpose of `patches`: adds every window back where it came from."""
    n, h, w, _ = gradient.shape
    windows = gradient.reshape(n, h, w, channels, 3, 3)
    padded = np.zeros((n, channels, h + 2, w + 2), np.float32)
    for i in range(3):
        for j in range(3):
            padded[:, :, i:i + h, j:j + w] += (
                windows[:, :, :, :, i, j].transpose(0, 3, 1, 2))
    return padded[:, :, 1:-1, 1:-1]


def initial_weights(rng):
    def he(*shape):
        fan_in = np.prod(shape[1:])
        return (rng.standard_normal(shape) * np.sqrt(2 / fan_in)).astype(np.float32)

    def zeros(n):
        return np.zeros(n, np.float32)

    return {"conv1.weight": he(16, 1, 3, 3), "conv1.bias": zeros(16),
            "conv2.weight": he(32, 16, 3, 3), "conv2.bias": zeros(32),
            "hidden.weight": he(64, 512), "hidden.bias": zeros(64),
            "digit.weight": he(10, 64), "digit.bias": zeros(10)}


def convolve(columns, weight, bias):
    product = columns @ weight.reshape(len(weight), -1).T + bias
    return product.transpose(0, 3, 1, 2)


def forward(w, images):
    """Probabilities, and what the backward pass needs."""
    s = {"columns1": patches(images)}
    s["a1"] = np.maximum(convolve(s["columns1"], w["conv1.weight"], w["conv1.bias"]), 0)
    s["columns2"] = patches(s["a1"])
    s["a2"] = np.maximum(convolve(s["columns2"], w["conv2.weight"], w["conv2.bias"]), 0)
    n = len(images)
    s["quads"] = (s["a2"].reshape(n, 32, 4, 2, 4, 2)
                  .transpose(0, 1, 2, 4, 3, 5).reshape(n, 32, 4, 4, 4))
    s["flat"] = s["quads"].max(-1).reshape(n, 512)
    s["h"] = np.maximum(s["flat"] @ w["hidden.weight"].T + w["hidden.bias"], 0)
    logits = s["h"] @ w["digit.weight"].T + w["digit.bias"]
    exp = np.exp(logits - logits.max(1, keepdims=True))
    return exp / exp.sum(1, keepdims=True), s


def backward(w, s, d_logits):
    """The gradient of the loss by every weight."""
    n = len(d_logits)
    g = {"digit.weight": d_logits.T @ s["h"], "digit.bias": d_logits.sum(0)}
    d_h = (d_logits @ w["digit.weight"]) * (s["h"] > 0)
    g["hidden.weight"], g["hidden.bias"] = d_h.T @ s["flat"], d_h.sum(0)
    d_flat = (d_h @ w["hidden.weight"]).reshape(n, 32, 4, 4)
    d_quads = np.zeros_like(s["quads"])
    winner = s["quads"].argmax(-1)[..., None]
    np.put_along_axis(d_quads, winner, d_flat[..., None], -1)
    d_a2 = (d_quads.reshape(n, 32, 4, 4, 2, 2)
            .transpose(0, 1, 2, 4, 3, 5).reshape(n, 32, 8, 8)) * (s["a2"] > 0)
    d_columns2 = d_a2.transpose(0, 2, 3, 1).reshape(-1, 32)
    g["conv2.weight"] = (d_columns2.T @ s["columns2"].reshape(-1, 144)).reshape(32, 16, 3, 3)
    g["conv2.bias"] = d_columns2.sum(0)
    windows = (d_columns2 @ w["conv2.weight"].reshape(32, 144)).reshape(n, 8, 8, 144)
    d_a1 = unpatch(windows, 16) * (s["a1"] > 0)
    d_columns1 = d_a1.transpose(0, 2, 3, 1).reshape(-1, 16)
    g["conv1.weight"] = (d_columns1.T @ s["columns1"].reshape(-1, 9)).reshape(16, 1, 3, 3)
    g["conv1.bias"] = d_columns1.sum(0)
    return g


def shifted(images, rng):
    """Each image moved by up to one pixel: the net must not learn positions."""
    moved = np.empty_like(images)
    for k, (dy, dx) in enumerate(rng.integers(0, 3, (len(images), 2))):
        moved[k, 0] = np.pad(images[k, 0], 1)[dy:dy + 8, dx:dx + 8]
    return moved


def train(images, labels):
    rng = np.random.default_rng(SEED)
    w = initial_weights(rng)
    mean = {k: np.zeros_like(v) for k, v in w.items()}
    square = {k: np.zeros_like(v) for k, v in w.items()}
    step = 0
    for epoch in range(EPOCHS):
        rate = 2e-3 * 0.5 * (1 + np.cos(np.pi * epoch / EPOCHS))
        order = rng.permutation(len(images))
        loss = 0.0
        for at in range(0, len(order), BATCH):
            pick = order[at:at + BATCH]
            probabilities, saved = forward(w, shifted(images[pick], rng))
            rows = np.arange(len(pick))
            loss -= np.log(probabilities[rows, labels[pick]] + 1e-9).sum()
            probabilities[rows, labels[pick]] -= 1
            step += 1
            for k, g in backward(w, saved, probabilities / len(pick)).items():  # Adam
                mean[k] += 0.1 * (g - mean[k])
                square[k] += 0.001 * (g * g - square[k])
                unbiased = mean[k] / (1 - 0.9**step)
                scale = np.sqrt(square[k] / (1 - 0.999**step)) + 1e-8
                w[k] -= (rate * unbiased / scale).astype(np.float32)
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1}: training loss {loss / len(images):.4f}")
    return w


def to_onnx(w):
    nodes = [
        helper.make_node("Conv", ["image", "conv1.weight", "conv1.bias"], ["c1"], "conv1",
                         kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c1"], ["a1"], "relu1"),
        helper.make_node("Conv", ["a1", "conv2.weight", "conv2.bias"], ["c2"], "conv2",
                         kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c2"], ["a2"], "relu2"),
        helper.make_node("MaxPool", ["a2"], ["p"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["p"], ["flat"], "flatten", axis=1),
        helper.make_node("Gemm", ["flat", "hidden.weight", "hidden.bias"], ["g"], "hidden", transB=1),
        helper.make_node("Relu", ["g"], ["h"], "relu3"),
        helper.make_node("Gemm", ["h", "digit.weight", "digit.bias"], ["logits"], "digit", transB=1),
        helper.make_node("Softmax", ["logits"], ["probabilities"], "softmax", axis=1),
    ]
    graph = helper.make_graph(
        nodes, "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 8, 8])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["batch", 10])],
        [numpy_helper.from_array(value, name) for name, value in w.items()])
    model = helper.make_model(graph, producer_name="reprise",
                              opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.checker.check_model(model, full_check=True)
    return model


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--out", type=pathlib.Path, default=HERE,
                        help="the model's folder; 1/model.onnx and samples/ are written there (default: %(default)s)")
    return parser.parse_args()


def main():
    out = arguments().out
    data = load_digits()
    images = (data.images / 16).astype(np.float32)[:, None]
    train_x, held_x, train_y, held_y = train_test_split(
        images, data.target, test_size=0.2, random_state=SEED, stratify=data.target)
    model = to_onnx(train(train_x, train_y))

    # Judged is what the file says, by an implementation that is not ours.
    answers = ReferenceEvaluator(model).run(None, {"image": held_x})[0].argmax(1)
    accuracy = (answers == held_y).mean()
    print(f"held-out accuracy {accuracy:.4f} ({len(held_y)} digits)")
    if accuracy < WANTED_ACCURACY:
        print(f"below {WANTED_ACCURACY}: nothing written")
        return 1

    (out / "1").mkdir(parents=True, exist_ok=True)
    (out / "samples").mkdir(exist_ok=True)
    path = out / "1" / "model.onnx"
    onnx.save(model, path)
    print(f"wrote {path} ({path.stat().st_size} bytes)")
    for digit in range(10):  # the first held-out image of each
        image = held_x[held_y == digit][0, 0]
        grey = np.rint(image * 255).astype(int).tolist()
        png.write_grey(out / "samples" / f"{digit}.png", grey)
    return 0


if __name__ == "__main__":
    sys.exit(main())
