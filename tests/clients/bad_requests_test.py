"""Every kind of bad request over the wire: its code and what the text says. After each the server answers a good one.

The names of the rows are those of the protocol's tables of status codes. What ends a call that was good is in
queue_test.py.
"""
import collections

import support

if support.found("tritonclient.grpc") and support.found("onnx"):
    import grpc
    from onnx import TensorProto, helper
    from tritonclient.grpc import service_pb2 as pb
    from tritonclient.grpc import service_pb2_grpc

    import calls
    from messages import Unsigned, answers, infer, load, output, simple, strings, tensor, unload

ROW = bytes(64)  # of `simple`
INVALID, INTERNAL = "INVALID_ARGUMENT", "INTERNAL"
NOT_FOUND, UNAVAILABLE, UNIMPLEMENTED = "NOT_FOUND", "UNAVAILABLE", "UNIMPLEMENTED"

# A request, the code that answers it and what all stands in the text.
Row = collections.namedtuple("Row", "name rpc request code texts")


def asked(name, request, code, *texts, rpc="ModelInfer"):
    return Row(name, rpc, request, code, texts)


def by_model(name, model, version, code, *texts, ready=None):
    """The row for each RPC that takes a model and a version.

    `ready` is the code of ModelReady if it has one of its own. ModelStatistics without a name is about all models.
    """
    messages = {"ModelInfer": simple(model=model, version=version),
                "ModelReady": pb.ModelReadyRequest(name=model, version=version),
                "ModelMetadata": pb.ModelMetadataRequest(name=model, version=version),
                "ModelConfig": pb.ModelConfigRequest(name=model, version=version),
                "ModelStatistics": pb.ModelStatisticsRequest(name=model, version=version)}
    return [Row(f"{name}: {rpc}", rpc, request, code, texts) if rpc != "ModelReady" or ready is None
            else Row(f"{name}: {rpc}", rpc, request, ready, ())
            for rpc, request in messages.items() if model or rpc != "ModelStatistics"]


def model_rows():
    """Model and version. `gone` was unloaded."""
    rows = by_model("unknown model", "nope", "", NOT_FOUND, "unknown model 'nope'")
    rows += by_model("unknown model with a version", "nope", "1", NOT_FOUND, "unknown model 'nope'")
    rows += by_model("unknown model with a long name", "\N{LATIN SMALL LETTER U WITH DIAERESIS}" * 50_000, "",
                     NOT_FOUND, "unknown model '\N{LATIN SMALL LETTER U WITH DIAERESIS}")
    rows += by_model("no name", "", "", NOT_FOUND, "unknown model ''")
    rows += by_model("unknown version", "simple", "99", NOT_FOUND, "version 99 of model 'simple'", "not found")
    rows += by_model("explicit version that is not ready", "gone", "1", UNAVAILABLE, "version 1 of model 'gone'",
                     "not at ready state", ready="OK")
    rows += by_model("version empty, no version ready", "gone", "", NOT_FOUND, "model 'gone'", "no available versions",
                     ready="OK")
    for version in ("abc", "-1", "1abc", " 1", "1 ", "01", "0", "1.0", "0x1", "+1", "18446744073709551617", "9" * 5000,
                    "\N{FULLWIDTH DIGIT ONE}"):
        rows += by_model(f"version unparsable or negative, {version[:30]!r}", "simple", version, INVALID,
                         "model 'simple': ", "must be an integer > 0")
    return rows


def input_rows():
    """Names, datatypes and shapes."""
    i0, i1 = tensor("INPUT0"), tensor("INPUT1")

    def shaped(first, second, size0=64, size1=64):
        return infer([tensor("INPUT0", shape=first), tensor("INPUT1", shape=second)], [bytes(size0), bytes(size1)])

    return [
        asked("unknown input", infer([tensor("nope"), i1], [ROW] * 2), INVALID, "unexpected input 'nope'",
              "'INPUT0', 'INPUT1'", "model 'simple'"),
        asked("unknown input beside all", infer([i0, i1, tensor("nope")], [ROW] * 3), INVALID,
              "unexpected input 'nope'"),
        asked("unknown output", simple(outputs=[output("nope")]), INVALID, "unexpected output 'nope'",
              "'OUTPUT0', 'OUTPUT1'"),
        asked("input as output", simple(outputs=[output("INPUT0")]), INVALID, "unexpected output 'INPUT0'"),
        asked("required input missing", infer([i0], [ROW]), INVALID, "expected 2 inputs, got 1", "missing 'INPUT1'"),
        asked("all inputs missing", infer([]), INVALID, "expected 2 inputs, got 0", "'INPUT0', 'INPUT1'"),
        asked("input given twice", infer([i0, i0], [ROW] * 2), INVALID, "input 'INPUT0' already exists in request"),
        asked("input given twice beside all", infer([i0, i1, i1], [ROW] * 3), INVALID,
              "input 'INPUT1' already exists in request"),
        asked("output given twice in two ways",
              simple(outputs=[output("OUTPUT0"), output("OUTPUT0", classification=1)]), INVALID,
              "output 'OUTPUT0' already exists in request"),
        asked("datatype mismatch", infer([tensor("INPUT0", "FP32"), i1], [ROW] * 2), INVALID, "datatype 'FP32'",
              "expected INT32", "'INPUT0'"),
        asked("unknown datatype string", infer([i0, tensor("INPUT1", "TYPE_INT32")], [ROW] * 2), INVALID,
              "datatype 'TYPE_INT32'", "expected INT32", "'INPUT1'"),
        asked("no datatype", infer([i0, tensor("INPUT1", "")], [ROW] * 2), INVALID, "datatype ''", "expected INT32"),
        asked("wrong shape", shaped((1, 15), (1, 16), 60), INVALID, "unexpected shape of input 'INPUT0'",
              "expected [-1,16]", "got [1,15]"),
        asked("wrong rank", shaped((1, 16), (1, 4, 4)), INVALID, "unexpected shape of input 'INPUT1'",
              "expected [-1,16]", "got [1,4,4]"),
        asked("no shape", shaped((), (1, 16)), INVALID, "unexpected shape of input 'INPUT0'", "got []"),
        asked("a dimension of -1", shaped((1, -1), (1, 16)), INVALID, "every", "dimension must be given", "[1,-1]"),
        asked("a batch of -1", shaped((-1, 16), (-1, 16)), INVALID, "dimension must be given", "[-1,16]"),
        asked("no batch dimension", shaped((16,), (16,)), INVALID, "unexpected shape", "expected [-1,16]", "got [16]"),
        asked("unequal batch dimensions", shaped((2, 16), (1, 16), 128), INVALID, "unequal batch-size",
              "2 of input 'INPUT0'", "1 of input 'INPUT1'"),
        asked("batch above the maximum", simple(rows=9), INVALID, "batch-size must be <= 8", "got 9"),
        asked("a batch of 0", shaped((0, 16), (0, 16), 0, 0), INVALID, "batch 0"),
        asked("a huge batch", shaped((1 << 62, 16), (1 << 62, 16)), INVALID, "batch-size must be <= 8"),
        asked("a product that overflows", infer([tensor("INPUT0", "BYTES", (4, 1 << 62))], [b""], model="text"),
              INVALID, "INPUT0"),
    ]


def data_rows():
    """Bytes, typed contents and parameters. `text` copies BYTES, `half` copies FP16."""
    i0, i1 = tensor("INPUT0"), tensor("INPUT1")
    numbers = list(range(16))

    def text(raw, count=2):
        return infer([tensor("INPUT0", "BYTES", (1, count))], [raw], model="text")

    def typed(datatype="INT32", model="simple", shape=(1, 16), **contents):
        first = tensor("INPUT0", datatype, shape, **contents)
        return infer([first] if model != "simple" else [first, tensor("INPUT1", int_contents=numbers)], model=model)

    return [
        asked("byte size too small", infer([i0, i1], [ROW[:60], ROW]), INVALID, "byte size mismatch", "expected 64",
              "got 60", "'INPUT0'"),
        asked("byte size too large", infer([i0, i1], [ROW, bytes(65)]), INVALID, "byte size mismatch", "expected 64",
              "got 65", "'INPUT1'"),
        asked("byte size 0", infer([i0, i1], [b"", ROW]), INVALID, "byte size mismatch", "got 0"),
        asked("BYTES: incomplete length prefix", text(strings(b"abcdef") + b"\1\0\0"), INVALID,
              "incomplete length indicator", "'INPUT0'"),
        asked("BYTES: incomplete length prefix after all", text(strings(b"a", b"bc") + b"\1\0"), INVALID,
              "expected 2 string elements"),
        asked("BYTES: too many elements", text(strings(b"a", b"b", b"c")), INVALID, "expected 2 string elements"),
        asked("BYTES: too few elements", text(strings(b"abcdefgh")), INVALID, "expected 2 string elements", "got 1"),
        asked("BYTES: nothing", text(b""), INVALID, "expected 2 string elements", "'INPUT0'"),
        asked("BYTES: the last element is cut short", text(strings(b"a", b"bcd")[:-1]), INVALID, "should have 3 bytes"),
        asked("BYTES: a length beyond the data", text(strings(b"a") + b"\xff\xff\xff\xff" + b"bcd"), INVALID,
              "should have 4294967295 bytes"),
        asked("BYTES: buffer count wrong",
              infer([tensor("INPUT0", "BYTES", (1, 2))], [strings(b"a"), strings(b"b")], model="text"),
              INVALID, "expected 1 raw_input_contents", "got 2"),
        asked("contents mixed with raw entries", infer([i0, tensor("INPUT1", int_contents=numbers)], [ROW]), INVALID,
              "not allowed together with raw_input_contents", "'INPUT1'"),
        asked("raw and typed for one input", infer([tensor("INPUT0", int_contents=numbers), i1], [ROW] * 2), INVALID,
              "not allowed together with raw_input_contents", "'INPUT0'"),
        asked("no data for any input", infer([i0, i1]), INVALID, "no data found for the tensor", "'INPUT0'"),
        asked("no data for one input, raw", infer([i0, i1], [ROW]), INVALID, "no data found for the tensor 'INPUT1'"),
        asked("no data for one input, typed", infer([tensor("INPUT0", int_contents=numbers), i1]), INVALID,
              "no data found for the tensor", "'INPUT1'"),
        asked("wrong typed field", typed(fp32_contents=[1.0] * 16), INVALID, "unexpected explicit tensor data",
              "fp32_contents", "expected int_contents"),
        asked("two typed fields", typed(int_contents=numbers, int64_contents=[1]), INVALID,
              "unexpected explicit tensor data", "int64_contents"),
        asked("typed data for a datatype without a field", typed("FP16", "half", fp32_contents=[1.0] * 16), INVALID,
              "unexpected explicit tensor data", "expected raw_input_contents"),
        asked("too few typed elements", typed(int_contents=numbers[1:]), INVALID, "expected 16 elements", "got 15"),
        asked("too many typed elements", typed(int_contents=numbers * 2), INVALID, "expected 16 elements"),
        asked("typed BYTES: too few", typed("BYTES", "text", (1, 2), bytes_contents=[b"a"]), INVALID,
              "expected 2 elements", "got 1"),
        asked("more raw entries than inputs", infer([i0, i1], [ROW] * 3), INVALID, "expected 2 raw_input_contents",
              "got 3"),
        asked("more raw entries than inputs, an empty one", infer([i0, i1], [ROW, ROW, b""]), INVALID,
              "expected 2 raw_input_contents"),
    ]


def parameter_rows():
    def with_parameter(key, value):
        return simple(parameters={key: value})

    wrong = {"timeout": "5", "priority": "high", "sequence_id": True, "sequence_start": 1, "sequence_end": "yes",
             "triton_enable_empty_final_response": 1, "custom": Unsigned(1)}
    rows = [asked(f"parameter of the wrong type, {key}", with_parameter(key, value), INVALID, "invalid value type",
                  f"'{key}'")
            for key, value in wrong.items()]
    return rows + [
        asked("reserved key", with_parameter("triton_anything", 1), INVALID, "model 'simple'", "'triton_anything'",
              "reserved"),
        asked("negative priority", with_parameter("priority", -1), INVALID, "'priority'", "-1"),
        asked("classification of the wrong type", simple(outputs=[output("OUTPUT0", classification="3")]), INVALID,
              "invalid value type", "'classification'", "'OUTPUT0'"),
        asked("classification of none", simple(outputs=[output("OUTPUT0", classification=0)]), INVALID, "must be > 0"),
        asked("classification of BYTES",
              infer([tensor("INPUT0", "BYTES", (1, 1))], [strings(b"a")], [output("OUTPUT0", classification=1)],
                    model="text"), INVALID, "BYTES"),
        asked("an input in shared memory",
              infer([tensor("INPUT0", parameters={"shared_memory_region": "r"}), tensor("INPUT1")], [ROW]),
              UNIMPLEMENTED, "client shared memory is disabled"),
        asked("an output in shared memory", simple(outputs=[output("OUTPUT0", shared_memory_region="r")]),
              UNIMPLEMENTED, "client shared memory is disabled"),
        asked("the request's id is in the text", simple(rows=9, id="order-66"), INVALID, "[request id: order-66]",
              "batch-size"),
    ]


ILLEGAL_NAMES = ("", " ", " \t ", ".", "..", "../simple", "a/b", "/simple", "simple/", "a\\b", "a\nb", "n" * 300,
                 "n" * 100_000)


def repository_rows():
    """With --model-control-mode=explicit."""
    rows = [
        asked("load of an absent model", load("nope"), INTERNAL, "failed to load 'nope'", rpc="RepositoryModelLoad"),
        asked("load of a model without a version", load("empty"), INTERNAL, "failed to load 'empty'", "version",
              rpc="RepositoryModelLoad"),
        asked("load of a broken model", load("broken"), INTERNAL, "failed to load 'broken'", rpc="RepositoryModelLoad"),
        asked("load with a bad configuration", load("simple", config="{"), INTERNAL, "failed to load 'simple'",
              rpc="RepositoryModelLoad"),
        asked("load of a file without a configuration", load("sent", file=b"x"), INTERNAL, "config",
              rpc="RepositoryModelLoad"),
        asked("load parameter of the wrong type", load("simple", config=1), INVALID, "invalid value type",
              rpc="RepositoryModelLoad"),
        asked("unknown load parameter", load("simple", nope="x"), INVALID, "unexpected parameter 'nope'",
              rpc="RepositoryModelLoad"),
        asked("unload parameter of the wrong type", unload("simple", unload_dependents=1), INVALID,
              "invalid value type", rpc="RepositoryModelUnload"),
        asked("repository_name set, index", pb.RepositoryIndexRequest(repository_name="r"), UNIMPLEMENTED,
              "repository_name 'r'", rpc="RepositoryIndex"),
        asked("repository_name set, load", load("simple", repository="r"), UNIMPLEMENTED, "repository_name 'r'",
              rpc="RepositoryModelLoad"),
        asked("repository_name set, unload", unload("simple", repository="r"), UNIMPLEMENTED, "repository_name 'r'",
              rpc="RepositoryModelUnload"),
    ]
    for name in ILLEGAL_NAMES:
        shown = repr(name[:30])
        rows.append(asked(f"illegal model name {shown}, load", load(name), INVALID, "name", rpc="RepositoryModelLoad"))
        rows.append(asked(f"illegal model name {shown}, unload", unload(name), INVALID, "name",
                          rpc="RepositoryModelUnload"))
    return rows


def copying_model(folder, name, kind, more=""):
    """A model whose OUTPUT0 is its INPUT0, [batch, n] of the ONNX type `kind`."""
    tensors = [helper.make_tensor_value_info(t, kind, ["N", "n"]) for t in ("INPUT0", "OUTPUT0")]
    graph = helper.make_graph([helper.make_node("Identity", ["INPUT0"], ["OUTPUT0"])], name, tensors[:1], tensors[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (folder / name / "1").mkdir(parents=True)
    (folder / name / "1" / "model.onnx").write_bytes(model.SerializeToString())
    config = f'name: "{name}"\nplatform: "onnxruntime_onnx"\nmax_batch_size: 8\n{more}'
    (folder / name / "config.pbtxt").write_text(config)


class BadRequestsTest(support.DaemonTest):
    """What the tests share: to ask, and to see that the server is well."""
    models = ("simple",)

    def setUp(self):
        channel = calls.channel(self.daemon.address)
        self.addCleanup(channel.close)
        self.stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)

    def ask(self, rpc, request):
        """The reply, or the error."""
        try:
            return getattr(self.stub, rpc)(request, timeout=30)
        except grpc.RpcError as e:
            return e

    def assert_good(self):
        self.assertTrue(answers(self.stub.ModelInfer(simple(rows=2), timeout=30), rows=2))

    def check(self, rows):
        for row in rows:
            with self.subTest(row.name):
                reply = self.ask(row.rpc, row.request)
                code = reply.code().name if isinstance(reply, grpc.RpcError) else "OK"
                self.assertEqual(code, row.code, reply)
                for text in row.texts:
                    self.assertIn(text, reply.details())
                if row.rpc == "ModelReady" and row.code == "OK":
                    self.assertFalse(reply.ready)
                self.assert_good()


class ExplicitTest(BadRequestsTest):
    flags = ("--model-control-mode=explicit", "--load-model=simple", "--load-model=text", "--load-model=half",
             "--load-model=gone", "--load-model=both")

    @classmethod
    def prepare(cls, repository):
        copying_model(repository, "text", TensorProto.STRING)
        copying_model(repository, "half", TensorProto.FLOAT16)
        copying_model(repository, "gone", TensorProto.INT32)
        copying_model(repository, "both", TensorProto.INT32, "version_policy { all { } }\n")
        (repository / "both" / "2").mkdir()
        (repository / "both" / "2" / "model.onnx").write_bytes((repository / "both" / "1" / "model.onnx").read_bytes())
        (repository / "empty").mkdir()
        (repository / "empty" / "config.pbtxt").write_text('platform: "onnxruntime_onnx"\n')
        copying_model(repository, "broken", TensorProto.INT32)
        (repository / "broken" / "1" / "model.onnx").write_bytes(b"no model")

    def test_model_and_version(self):
        self.stub.RepositoryModelUnload(unload("gone"), timeout=30)
        self.check(model_rows())

    def test_inputs_and_outputs(self):
        self.check(input_rows())

    def test_data(self):
        self.check(data_rows())

    def test_parameters(self):
        self.check(parameter_rows())

    def test_repository(self):
        self.check(repository_rows())
        self.assertFalse(self.stub.ModelReady(pb.ModelReadyRequest(name="gone"), timeout=30).ready)

    def test_an_unload_leaves_no_version_ready(self):
        """The row "unload that leaves a version ready" has no case: all versions go at once."""
        for version in ("1", "2"):
            self.assertTrue(self.stub.ModelReady(pb.ModelReadyRequest(name="both", version=version), timeout=30).ready)
        self.stub.RepositoryModelUnload(unload("both"), timeout=30)
        self.check(by_model("unloaded", "both", "1", UNAVAILABLE, "not at ready state", "unloaded", ready="OK"))
        self.check(by_model("unloaded", "both", "2", UNAVAILABLE, "not at ready state", "unloaded", ready="OK"))

    def test_the_models_of_these_tests_answer_good_requests(self):
        """Else the rows above would prove little."""
        text = infer([tensor("INPUT0", "BYTES", (1, 2))], [strings(b"", b"abc")], model="text")
        self.assertEqual(list(self.ask("ModelInfer", text).raw_output_contents), [strings(b"", b"abc")])
        typed = infer([tensor("INPUT0", "BYTES", (1, 2), bytes_contents=[b"x", b"yz"])], model="text")
        self.assertEqual(list(self.ask("ModelInfer", typed).raw_output_contents), [strings(b"x", b"yz")])
        half = infer([tensor("INPUT0", "FP16", (1, 3))], [bytes(range(6))], model="half")
        self.assertEqual(list(self.ask("ModelInfer", half).raw_output_contents), [bytes(range(6))])
        numbers = infer([tensor(name, int_contents=range(16)) for name in ("INPUT0", "INPUT1")])
        self.assertEqual(len(self.ask("ModelInfer", numbers).raw_output_contents[0]), 64)
        twice = self.ask("ModelInfer", simple(outputs=[output("OUTPUT1"), output("OUTPUT1")]))
        self.assertEqual([o.name for o in twice.outputs], ["OUTPUT1"])

    def test_what_is_no_request_at_all(self):
        channel = calls.channel(self.daemon.address)
        self.addCleanup(channel.close)
        good = simple().SerializeToString()
        for rpc in ("ModelInfer", "ModelMetadata", "ModelConfig", "ModelStatistics", "RepositoryModelLoad"):
            method = channel.unary_unary(f"/inference.GRPCInferenceService/{rpc}")
            for name, message in {"garbage": b"\xff" * 100, "cut short": good[:-1],
                                  "not UTF-8": b"\x0a\x02\xff\xfe"}.items():
                with self.subTest(f"{rpc}, {name}"):
                    with self.assertRaises(grpc.RpcError) as caught:
                        method(message, timeout=30)
                    self.assertEqual(caught.exception.code().name, INTERNAL)
                    self.assert_good()

    def test_calls_that_are_not_served(self):
        for rpc in ("TraceSetting", "LogSettings", *(f"{kind}SharedMemory{what}" for kind in ("System", "Cuda")
                                                     for what in ("Status", "Register", "Unregister"))):
            self.check([asked(rpc, getattr(pb, f"{rpc}Request")(), UNIMPLEMENTED, rpc, "not served", rpc=rpc)])
        with self.assertRaises(grpc.RpcError) as caught:
            next(self.stub.ModelStreamInfer(iter([simple()]), timeout=30))
        self.assertEqual(caught.exception.code().name, UNIMPLEMENTED)
        self.assert_good()


class NoneModeTest(BadRequestsTest):
    def test_load_and_unload_are_not_allowed(self):
        for name in ("simple", "nope", "../simple"):
            self.check([asked(f"load {name}", load(name), UNAVAILABLE, "explicit", "not allowed",
                              rpc="RepositoryModelLoad"),
                        asked(f"unload {name}", unload(name), UNAVAILABLE, "explicit", "not allowed",
                              rpc="RepositoryModelUnload")])


class PollModeTest(NoneModeTest):
    flags = ("--model-control-mode=poll",)


class LimitTest(BadRequestsTest):
    """The size of messages, at 4 KiB where gRPC's own limit is 2 GiB."""
    flags = ("--grpc-max-message-bytes=4096",)

    @classmethod
    def prepare(cls, repository):
        """`wide` answers with its input 16 times over."""
        tensors = [helper.make_tensor_value_info(name, TensorProto.INT32, ["N", size])
                   for name, size in (("INPUT0", 16), ("OUTPUT0", 256))]
        graph = helper.make_graph([helper.make_node("Concat", ["INPUT0"] * 16, ["OUTPUT0"], axis=1)], "wide",
                                  tensors[:1], tensors[1:])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        (repository / "wide" / "1").mkdir(parents=True)
        (repository / "wide" / "1" / "model.onnx").write_bytes(model.SerializeToString())

    def wide(self, rows):
        return infer([tensor("INPUT0", shape=(rows, 16))], [bytes(64 * rows)], model="wide")

    def test_reply_above_the_limit(self):
        self.assertEqual(len(self.ask("ModelInfer", self.wide(3)).raw_output_contents[0]), 3 * 1024)
        self.check([asked("response above the limit", self.wide(4), INVALID, "exceeds the size limit", "4096",
                          "'wide'")])

    def test_request_above_the_limit(self):
        self.check([asked("request above the limit", simple(id="i" * 5000), "RESOURCE_EXHAUSTED", "larger than max",
                          "4096"),
                    asked("far above", simple(id="i" * 5_000_000), "RESOURCE_EXHAUSTED", "larger than max")])


del BadRequestsTest  # it has no test of its own

if __name__ == "__main__":
    support.main(packages=("numpy", "tritonclient.grpc", "onnx"))
