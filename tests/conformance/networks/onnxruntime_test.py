"""Networks served from the CPU, held to onnxruntime at every number of rows."""
import importlib.util
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "clients"))

import support  # noqa: E402
from daemon import Daemon  # noqa: E402

if support.found("onnxruntime") and support.found("tritonclient.grpc") and support.found("onnx"):
    import numpy as np
    import onnxruntime
    from tritonclient import grpc as triton
    from tritonclient.utils import np_to_triton_dtype

RELATIVE, ABSOLUTE = 2e-3, 2e-4
# Name: rows of the largest batch that is tried.
NETWORKS = {"mlp": 64, "one_kernel": 8, "encoder": 4, "encoder_parts": 4, "encoder_ids": 4, "small_encoder": 4,
            "small_encoder_parts": 4, "small_encoder_ids": 4, "gpu_bound": 1}
NUMPY_TYPES = {"tensor(float)": "float32", "tensor(int64)": "int64"}


def writer():
    """tests/gpu/make_models.py as a module."""
    spec = importlib.util.spec_from_file_location("make_models", ROOT / "tests" / "gpu" / "make_models.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def sample(name, dims, dtype, random):
    """Floats of a normal distribution, words, and masks that hide one place in five."""
    if "mask" in name:
        hidden = np.arange(int(np.prod(dims))).reshape(dims) % 5 == 3
        return np.where(hidden, 0, 1).astype(dtype) if dtype == "int64" else np.where(hidden, -10000, 0).astype(dtype)
    if dtype == "int64":
        return random.integers(0, 50, dims, dtype)
    return random.standard_normal(dims).astype(dtype)


class NetworksTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.repository = tempfile.TemporaryDirectory(prefix="networks-")
        cls.addClassCleanup(cls.repository.cleanup)
        make_models = writer()
        for name, rows in NETWORKS.items():
            make_models.write(cls.repository.name, [name], max_batch=rows)
        cls.daemon = Daemon(support.REPRISED, cls.repository.name, "--device=cpu")
        cls.addClassCleanup(cls.daemon.kill)
        cls.client = triton.InferenceServerClient(cls.daemon.address)
        cls.addClassCleanup(cls.client.close)

    def served(self, name, inputs):
        tensors = []
        for key, array in inputs.items():
            tensor = triton.InferInput(key, list(array.shape), np_to_triton_dtype(array.dtype))
            tensor.set_data_from_numpy(array)
            tensors.append(tensor)
        return self.client.infer(name, tensors)

    def compare(self, name):
        path = pathlib.Path(self.repository.name) / name / "1" / "model.onnx"
        reference = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        random = np.random.default_rng(5)
        for rows in range(1, NETWORKS[name] + 1):
            inputs = {each.name: sample(each.name, [rows, *each.shape[1:]], NUMPY_TYPES[each.type], random)
                      for each in reference.get_inputs()}
            served = self.served(name, inputs)
            for output, expected in zip(reference.get_outputs(), reference.run(None, inputs)):
                np.testing.assert_allclose(served.as_numpy(output.name), expected, RELATIVE, ABSOLUTE,
                                           err_msg=f"{name}, {rows} rows, {output.name}")


def add_test(name):
    setattr(NetworksTest, f"test_{name}", lambda self: self.compare(name))


for network in NETWORKS:
    add_test(network)

if __name__ == "__main__":
    if not support.found("onnxruntime"):
        print("skipped: this Python has no package onnxruntime (deploy/setup --tools)")
        sys.exit(support.SKIPPED)
    support.main(("numpy", "onnx", "tritonclient.grpc"))
