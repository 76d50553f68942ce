#include "runtime/model/config_check.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/model/config_parse.h"
#include "tests/testing/status_matchers.h"

namespace reprise {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ConfigFindings Check(const std::string& text) {
  const auto parsed = ParseConfigText(text);
  EXPECT_THAT(parsed, IsOk());
  return CheckConfig(parsed->proto, "m");
}

struct Case {
  const char* text;
  const char* fault;  // what the message must say
};

class RefusedConfigTest : public ::testing::TestWithParam<Case> {};

TEST_P(RefusedConfigTest, NamesTheField) {
  const ConfigFindings findings = Check(GetParam().text);
  ASSERT_EQ(findings.faults.size(), 1U) << findings.status("config.pbtxt");
  EXPECT_THAT(findings.faults[0], HasSubstr(GetParam().fault));
  EXPECT_THAT(findings.status("config.pbtxt"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr(GetParam().fault)));
}

INSTANTIATE_TEST_SUITE_P(
    Bounds, RefusedConfigTest,
    ::testing::Values(
        Case{"name: 'other'", "name is 'other', but the model is 'm'"},
        Case{"max_batch_size: -3", "max_batch_size is -3"},
        Case{"max_batch_size: 100000", "max_batch_size is 100000"},
        Case{"max_batch_size: 8 dynamic_batching { preferred_batch_size: 9 }",
             "preferred_batch_size 9"},
        Case{"max_batch_size: 8 dynamic_batching { preferred_batch_size: 0 }",
             "preferred_batch_size 0"},
        Case{"max_batch_size: 8 optimization { cuda { graph_spec { "
             "batch_size: 16 } } }",
             "graph_spec.batch_size 16"},
        Case{"dynamic_batching { priority_levels: 3 }",
             "default_priority_level is 0"},
        Case{
            "dynamic_batching { priority_levels: 3 default_priority_level: 4 }",
            "[1, priority_levels = 3]"},
        Case{"dynamic_batching { default_priority_level: 1 }",
             "without priority_levels"},
        Case{"dynamic_batching { priority_levels: 2 default_priority_level: 1 "
             "priority_queue_policy { key: 3 value {} } }",
             "names level 3"},
        Case{"version_policy { specific {} }", "names no version"},
        Case{"version_policy { specific { versions: 0 } }", "version 0"},
        Case{"instance_group { count: -1 }", "count is -1"},
        Case{"instance_group { count: 65 }", "adds up to 65"},
        Case{"instance_group { kind: KIND_CPU gpus: 0 }", "KIND_CPU"},
        Case{"instance_group { gpus: -1 }", "GPU -1"},
        Case{"platform: 'tensorrt_plan'", "platform 'tensorrt_plan'"},
        Case{"backend: 'python'", "backend 'python'"},
        Case{"default_model_filename: '../x'", "default_model_filename"},
        Case{"input { name: 'a' } input { name: 'a' }",
             "input 'a' is listed twice"},
        Case{"input { dims: 1 }", "has no name"},
        Case{"output { name: 'b' dims: [ 3, 0 ] }", "a dim is 0"},
        Case{"output { name: 'b' dims: [ -2 ] }", "a dim is -2"}));

INSTANTIATE_TEST_SUITE_P(
    FieldsThatChangeAnswers, RefusedConfigTest,
    ::testing::Values(
        Case{"sequence_batching { direct {} }", "sequence_batching"},
        Case{"ensemble_scheduling { step { model_name: 'x' } }",
             "ensemble_scheduling"},
        Case{"model_transaction_policy { decoupled: true }", "decoupled"},
        Case{"batch_input { kind: BATCH_ELEMENT_COUNT }", "batch_input"},
        Case{"batch_output { target_name: 'x' }", "batch_output"},
        Case{"model_operations { op_library_filename: 'x.so' }",
             "model_operations"},
        Case{"model_repository_agents { agents { name: 'checksum' } }",
             "model_repository_agents"},
        Case{"input { name: 'a' reshape { shape: [] } }", "input 'a': reshape"},
        Case{"input { name: 'a' is_shape_tensor: true }", "is_shape_tensor"},
        Case{"input { name: 'a' allow_ragged_batch: true }",
             "allow_ragged_batch"},
        Case{"input { name: 'a' optional: true }", "optional"},
        Case{"input { name: 'a' is_non_linear_format_io: true }",
             "is_non_linear_format_io"},
        Case{"output { name: 'b' reshape { shape: 1 } }",
             "output 'b': reshape"},
        Case{"output { name: 'b' is_shape_tensor: true }", "is_shape_tensor"}));

TEST(ConfigCheckTest, AcceptsWhatIsServed) {
  const ConfigFindings findings = Check(R"(
    name: "m" platform: "onnxruntime_onnx" backend: "onnxruntime"
    max_batch_size: 8
    input { name: "a" data_type: TYPE_FP32 dims: [ 3, 8, 8 ] format: FORMAT_NCHW }
    output { name: "b" data_type: TYPE_FP32 dims: [ 4 ] }
    dynamic_batching {
      preferred_batch_size: [ 4, 8 ] max_queue_delay_microseconds: 100
      priority_levels: 2 default_priority_level: 2
      priority_queue_policy { key: 1 value { max_queue_size: 4 } } }
    instance_group { count: 2 kind: KIND_GPU gpus: [ 0, 1 ] }
    model_transaction_policy { decoupled: false }
    optimization { input_pinned_memory { enable: true } cuda { graphs: true } }
    version_policy { all {} }
  )");
  EXPECT_THAT(findings.status("config.pbtxt"), IsOk());
  EXPECT_THAT(findings.ignored, IsEmpty());
  EXPECT_EQ(findings.warning(), "");
}

TEST(ConfigCheckTest, ListsAllFaultsInOneMessage) {
  EXPECT_THAT(
      Check("name: 'x' max_batch_size: -1 backend: 'python' "
            "input { name: 'a' optional: true }")
          .status("config.pbtxt"),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("name is 'x'"), HasSubstr("max_batch_size is"),
                     HasSubstr("backend 'python'"), HasSubstr("optional"))));
}

TEST(ConfigCheckTest, NamesWhatIsIgnoredInOneWarning) {
  const ConfigFindings findings = Check(R"(
    optimization {
      graph { level: 1 } priority: PRIORITY_MAX eager_batching: true
      execution_accelerators { gpu_execution_accelerator { name: "tensorrt" } }
      cuda { graph_spec { batch_size: 1 graph_lower_bound { batch_size: 1 } } }
    }
    instance_group { rate_limiter { priority: 1 } host_policy: "p" }
    instance_group { rate_limiter { priority: 2 } }
    response_cache { enable: true }
  )");
  EXPECT_THAT(findings.status("config.pbtxt"), IsOk());
  EXPECT_THAT(
      findings.ignored,
      ElementsAre("optimization.graph", "optimization.priority",
                  "optimization.execution_accelerators",
                  "optimization.eager_batching",
                  "optimization.cuda.graph_spec input, lower bound",
                  "instance_group.host_policy", "instance_group.rate_limiter",
                  "response_cache.enable"));
  EXPECT_THAT(findings.warning(), AllOf(HasSubstr("optimization.graph, "),
                                        HasSubstr("response_cache.enable")));
}

TEST(ConfigCheckTest, SaysNothingOfWhatUnknownParametersChange) {
  ConfigFindings findings;
  findings.unknown = {"parameters['a']", "parameters['b']"};
  EXPECT_EQ(findings.warning(),
            "the configuration has parameters that are not known here and "
            "have no effect: parameters['a'], parameters['b']");
  findings.ignored = {"optimization.graph"};
  EXPECT_EQ(findings.warning(),
            "the configuration has fields that are ignored, since they change "
            "no answer: optimization.graph; parameters that are not known "
            "here and have no effect: parameters['a'], parameters['b']");
}

}  // namespace
}  // namespace reprise
