"""Triton's own Python client against the daemon: what a user's first hour looks like."""
import queue
import struct
import unittest
import zlib

import support

if support.found("tritonclient.grpc"):
    import numpy as np
    from tritonclient import grpc as triton
    from tritonclient.utils import InferenceServerException


def read_grey(path):
    """An 8-bit greyscale PNG without filters or interlacing, as rows of integers."""
    data = path.read_bytes()
    at, header, packed = 8, None, b""
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    width, height, *form = header
    assert form == [8, 0, 0, 0, 0], f"{path} is not plain 8-bit grey"
    lines = zlib.decompress(packed)
    rows = [lines[y * (width + 1):(y + 1) * (width + 1)] for y in range(height)]
    assert all(row[0] == 0 for row in rows), f"{path} uses a filter"
    return [list(row[1:]) for row in rows]


def tensor(name, array, datatype):
    t = triton.InferInput(name, list(array.shape), datatype)
    t.set_data_from_numpy(array)
    return t


def simple_inputs(rows=1):
    a = np.arange(16 * rows, dtype=np.int32).reshape(rows, 16)
    b = np.full((rows, 16), 3, np.int32)
    return [tensor("INPUT0", a, "INT32"), tensor("INPUT1", b, "INT32")], a, b


class TritonClientTest(support.DaemonTest):
    def setUp(self):
        self.c = self.client()

    def assert_fails(self, code, text, call, *args, **kw):
        with self.assertRaises(InferenceServerException) as caught:
            call(*args, **kw)
        self.assertEqual(caught.exception.status(), f"StatusCode.{code}")
        self.assertIn(text, caught.exception.message())

    def assert_good(self):
        """The server still answers a good request."""
        inputs, a, b = simple_inputs()
        result = self.c.infer("simple", inputs)
        np.testing.assert_array_equal(result.as_numpy("OUTPUT0"), a + b)

    def test_health(self):
        self.assertTrue(self.c.is_server_live())
        self.assertTrue(self.c.is_server_ready())
        self.assertTrue(self.c.is_model_ready("simple"))
        self.assertTrue(self.c.is_model_ready("digits", "1"))

    def test_server_metadata(self):
        metadata = self.c.get_server_metadata()
        self.assertEqual(metadata.name, "reprise")
        self.assertTrue(metadata.version)
        self.assertIn("statistics", metadata.extensions)
        self.assertIn("model_repository", metadata.extensions)
        self.assertNotIn("trace", metadata.extensions)

    def test_model_metadata(self):
        metadata = self.c.get_model_metadata("digits")
        self.assertEqual((metadata.name, list(metadata.versions), metadata.platform),
                         ("digits", ["1"], "onnxruntime_onnx"))
        self.assertEqual([(t.name, t.datatype, list(t.shape)) for t in metadata.inputs],
                         [("image", "FP32", [-1, 1, 8, 8])])
        self.assertEqual([(t.name, t.datatype, list(t.shape)) for t in metadata.outputs],
                         [("probabilities", "FP32", [-1, 10])])

    def test_model_config(self):
        config = self.c.get_model_config("digits").config
        self.assertEqual((config.name, config.max_batch_size), ("digits", 32))
        self.assertEqual(config.WhichOneof("scheduling_choice"), "dynamic_batching")
        self.assertEqual([list(t.dims) for t in config.input], [[1, 8, 8]])
        self.assertEqual(config.output[0].label_filename, "labels.txt")

    def test_statistics_count_what_was_asked(self):
        before = self.c.get_inference_statistics("simple").model_stats[0]
        inputs, _, _ = simple_inputs(rows=3)
        self.c.infer("simple", inputs)
        after = self.c.get_inference_statistics("simple").model_stats[0]
        self.assertEqual(after.inference_count - before.inference_count, 3)
        self.assertEqual(after.execution_count - before.execution_count, 1)
        success = after.inference_stats.success
        self.assertEqual(success.count - before.inference_stats.success.count, 1)
        parts = after.inference_stats
        stages = parts.queue.ns + parts.compute_input.ns + parts.compute_infer.ns + parts.compute_output.ns
        self.assertGreater(stages, 0)
        self.assertLessEqual(stages, success.ns)
        # The one request was its batch.
        outputs = [sum(batch.compute_output.ns for batch in stats.batch_stats if batch.batch_size == 3)
                   - stats.inference_stats.compute_output.ns for stats in (before, after)]
        self.assertAlmostEqual(*outputs, delta=10)

    def test_simple_adds_and_subtracts(self):
        inputs, a, b = simple_inputs(rows=8)
        result = self.c.infer("simple", inputs, request_id="sum",
                              outputs=[triton.InferRequestedOutput(n) for n in ("OUTPUT0", "OUTPUT1")])
        np.testing.assert_array_equal(result.as_numpy("OUTPUT0"), a + b)
        np.testing.assert_array_equal(result.as_numpy("OUTPUT1"), a - b)
        reply = result.get_response()
        self.assertEqual((reply.id, reply.model_name, reply.model_version), ("sum", "simple", "1"))

    def test_digits_reads_all_ten_samples(self):
        for digit in range(10):
            image = np.array(read_grey(support.MODELS / "digits" / "samples" / f"{digit}.png"), np.float32) / 255
            result = self.c.infer("digits", [tensor("image", image.reshape(1, 1, 8, 8), "FP32")])
            probabilities = result.as_numpy("probabilities")
            self.assertEqual(probabilities.shape, (1, 10))
            self.assertAlmostEqual(float(probabilities.sum()), 1, places=4)
            self.assertEqual(int(probabilities.argmax()), digit)

    def test_ten_samples_in_one_request_answer_as_alone(self):
        images = np.array([read_grey(support.MODELS / "digits" / "samples" / f"{d}.png") for d in range(10)],
                          np.float32) / 255
        result = self.c.infer("digits", [tensor("image", images.reshape(10, 1, 8, 8), "FP32")])
        self.assertEqual(result.as_numpy("probabilities").argmax(axis=1).tolist(), list(range(10)))

    def test_async_infer_calls_back_once_for_each(self):
        answers = queue.Queue()
        for i in range(50):
            a = np.full((1, 16), i, np.int32)
            inputs = [tensor("INPUT0", a, "INT32"), tensor("INPUT1", a, "INT32")]
            self.c.async_infer("simple", inputs, lambda result, error: answers.put((result, error)), request_id=str(i))
        seen = set()
        for _ in range(50):
            result, error = answers.get(timeout=30)
            self.assertIsNone(error)
            i = int(result.get_response().id)
            self.assertEqual(result.as_numpy("OUTPUT0").tolist(), [[2 * i] * 16])
            seen.add(i)
        self.assertEqual(seen, set(range(50)))

    def test_compressed_requests(self):
        inputs, a, b = simple_inputs()
        for algorithm in ("gzip", "deflate"):
            result = self.c.infer("simple", inputs, compression_algorithm=algorithm)
            np.testing.assert_array_equal(result.as_numpy("OUTPUT0"), a + b)

    def test_a_generous_client_timeout_changes_nothing(self):
        inputs, a, b = simple_inputs()
        result = self.c.infer("simple", inputs, client_timeout=30)
        np.testing.assert_array_equal(result.as_numpy("OUTPUT1"), a - b)

    def test_a_deadline_that_has_passed(self):
        inputs, _, _ = simple_inputs()
        self.assert_fails("DEADLINE_EXCEEDED", "", self.c.infer, "simple", inputs, client_timeout=-1)
        self.assert_good()

    def test_errors_name_what_was_wrong(self):
        inputs, _, _ = simple_inputs()
        self.assert_fails("NOT_FOUND", "nope", self.c.infer, "nope", inputs)
        self.assert_fails("NOT_FOUND", "99", self.c.infer, "simple", inputs, model_version="99")
        self.assert_fails("INVALID_ARGUMENT", "INPUT1", self.c.infer, "simple", inputs[:1])
        wrong = tensor("INPUT1", np.zeros((1, 15), np.int32), "INT32")
        self.assert_fails("INVALID_ARGUMENT", "INPUT1", self.c.infer, "simple", [inputs[0], wrong])
        many, _, _ = simple_inputs(rows=9)
        self.assert_fails("INVALID_ARGUMENT", "8", self.c.infer, "simple", many)
        self.assert_fails("INVALID_ARGUMENT", "OTHER", self.c.infer, "simple", inputs,
                          outputs=[triton.InferRequestedOutput("OTHER")])
        self.assert_good()

    def test_load_and_unload_need_explicit_mode(self):
        self.assert_fails("UNAVAILABLE", "explicit", self.c.load_model, "simple")
        self.assert_fails("UNAVAILABLE", "explicit", self.c.unload_model, "simple")
        self.assert_good()

    def test_what_is_not_served_says_so(self):
        for call in (self.c.get_trace_settings, self.c.get_log_settings, self.c.get_system_shared_memory_status):
            self.assert_fails("UNIMPLEMENTED", "", call)
        self.assert_good()

    def test_repository_index(self):
        models = {(m.name, m.version, m.state) for m in self.c.get_model_repository_index().models}
        self.assertEqual(models, {("simple", "1", "READY"), ("digits", "1", "READY")})


if __name__ == "__main__":
    support.main()
