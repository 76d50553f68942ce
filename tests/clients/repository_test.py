"""Explicit mode through Triton's client: index, load, override, unload."""
import json
import pathlib
import shutil

import support

if support.found("tritonclient.grpc"):
    import numpy as np
    from tritonclient import grpc as triton
    from tritonclient.utils import InferenceServerException


class RepositoryTest(support.DaemonTest):
    flags = ("--model-control-mode=explicit", "--load-model=simple")

    def setUp(self):
        self.c = self.client()

    def index(self, name, version):
        """State and reason of a version; None if it is not listed."""
        models = self.c.get_model_repository_index().models
        return next(((m.state, m.reason) for m in models if (m.name, m.version) == (name, version)), None)

    def loaded(self, name):
        return any(m.name == name and m.state == "READY" for m in self.c.get_model_repository_index().models)

    def add(self, value=1, model="simple", rows=1):
        inputs = []
        for name in ("INPUT0", "INPUT1"):
            t = triton.InferInput(name, [rows, 16], "INT32")
            t.set_data_from_numpy(np.full((rows, 16), value, np.int32))
            inputs.append(t)
        return self.c.infer(model, inputs).as_numpy("OUTPUT0")

    def assert_code(self, code, call, *args, **kw):
        with self.assertRaises(InferenceServerException) as caught:
            call(*args, **kw)
        self.assertEqual(caught.exception.status(), f"StatusCode.{code}")
        return caught.exception.message()

    def test_only_what_was_asked_for_is_loaded(self):
        self.assertTrue(self.c.is_server_ready())
        self.assertEqual(self.index("simple", "1"), ("READY", ""))
        self.assertFalse(self.loaded("digits"))

    def test_load_use_and_unload(self):
        self.c.load_model("digits")
        self.assertTrue(self.c.is_model_ready("digits"))
        self.assertEqual(self.index("digits", "1"), ("READY", ""))
        self.c.unload_model("digits")
        self.assertEqual(self.index("digits", "1"), ("UNAVAILABLE", "unloaded"))
        self.assertTrue(self.c.is_server_ready())
        self.assertEqual(self.add()[0, 0], 2)

    def test_an_override_of_the_configuration_holds_until_the_next_load(self):
        config = {"name": "simple", "max_batch_size": 2, "platform": "onnxruntime_onnx",
                  "input": [{"name": n, "data_type": "TYPE_INT32", "dims": [16]} for n in ("INPUT0", "INPUT1")],
                  "output": [{"name": n, "data_type": "TYPE_INT32", "dims": [16]} for n in ("OUTPUT0", "OUTPUT1")]}
        self.c.load_model("simple", config=json.dumps(config))
        self.assertEqual(self.c.get_model_config("simple").config.max_batch_size, 2)
        self.assert_code("INVALID_ARGUMENT", self.add, rows=3)
        self.c.load_model("simple")
        self.assertEqual(self.c.get_model_config("simple").config.max_batch_size, 8)
        self.assertEqual(self.add(rows=3).shape, (3, 16))

    def test_a_model_that_comes_with_the_call(self):
        content = (support.MODELS / "simple" / "1" / "model.onnx").read_bytes()
        config = json.dumps({"name": "sent", "max_batch_size": 4, "platform": "onnxruntime_onnx"})
        self.c.load_model("sent", config=config, files={"file:1/model.onnx": content})
        self.assertEqual(self.add(5, model="sent")[0, 0], 10)
        self.assertEqual(self.index("sent", "1"), ("READY", ""))
        self.c.unload_model("sent")
        self.assert_code("NOT_FOUND", self.add, model="sent")

    def test_a_bad_reload_leaves_the_old_version_serving(self):
        self.assertIn("simple", self.assert_code("INTERNAL", self.c.load_model, "simple", config="{bad"))
        self.assertTrue(self.c.is_model_ready("simple"))
        self.assertEqual(self.add(4)[0, 0], 8)

    def test_a_damaged_file_leaves_the_old_version_serving(self):
        model = pathlib.Path(self.repository.name) / "simple" / "1" / "model.onnx"
        kept = model.read_bytes()
        self.addCleanup(model.write_bytes, kept)
        model.write_bytes(kept[:-7])
        self.assert_code("INTERNAL", self.c.load_model, "simple")
        self.assertEqual(self.add(4)[0, 0], 8)

    def test_a_new_version_takes_over(self):
        folder = pathlib.Path(self.repository.name) / "simple"
        shutil.copytree(folder / "1", folder / "2")
        self.c.load_model("simple")
        self.assertEqual(list(self.c.get_model_metadata("simple").versions), ["2"])
        shutil.rmtree(folder / "2")
        self.c.load_model("simple")
        self.assertEqual(list(self.c.get_model_metadata("simple").versions), ["1"])

    def test_absent_models_and_bad_names(self):
        self.assertIn("nope", self.assert_code("INTERNAL", self.c.load_model, "nope"))
        for name in ("../simple", "a/b", "..", " "):
            self.assert_code("INVALID_ARGUMENT", self.c.load_model, name)
        self.assertEqual(self.add(3)[0, 0], 6)


if __name__ == "__main__":
    support.main()
