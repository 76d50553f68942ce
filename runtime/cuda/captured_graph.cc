#include "runtime/cuda/captured_graph.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/cuda/memory.h"

namespace reprise::cuda {
namespace {

// Before what they take is held to be the graph's.
constexpr int kRecordings = 3;

std::string NodeTypeText(CUgraphNodeType type) {
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return "kernel";
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return "memcpy";
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return "memset";
    case CU_GRAPH_NODE_TYPE_HOST:
      return "host";
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return "memory allocation";
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return "memory free";
    default:
      return absl::StrCat("type ", static_cast<int>(type));
  }
}

// Only what runs on the device at addresses that others own may be replayed.
bool MayBeReplayed(CUgraphNodeType type) {
  return type != CU_GRAPH_NODE_TYPE_MEM_ALLOC &&
         type != CU_GRAPH_NODE_TYPE_MEM_FREE && type != CU_GRAPH_NODE_TYPE_HOST;
}

absl::StatusOr<std::vector<CUgraphNode>> NodesOf(const Driver& driver,
                                                 CUgraph graph) {
  size_t count = 0;
  REPRISE_RETURN_IF_ERROR(ToStatus(
      driver, driver.GraphGetNodes(graph, nullptr, &count), "cuGraphGetNodes"));
  std::vector<CUgraphNode> nodes(count);
  if (count == 0) return nodes;
  REPRISE_RETURN_IF_ERROR(
      ToStatus(driver, driver.GraphGetNodes(graph, nodes.data(), &count),
               "cuGraphGetNodes"));
  nodes.resize(count);
  return nodes;
}

absl::Status CheckNodes(const Driver& driver,
                        const std::vector<CUgraphNode>& nodes,
                        const CaptureCheck& check) {
  if (nodes.size() < check.least_nodes) {
    return absl::FailedPreconditionError(
        absl::StrCat("the captured graph has ", nodes.size(), " nodes of ",
                     check.least_nodes, " that were issued"));
  }
  for (CUgraphNode node : nodes) {
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    REPRISE_RETURN_IF_ERROR(ToStatus(
        driver, driver.GraphNodeGetType(node, &type), "cuGraphNodeGetType"));
    if (MayBeReplayed(type)) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("the captured graph has a ", NodeTypeText(type), " node"));
  }
  return absl::OkStatus();
}

absl::StatusOr<UniqueHandle<CUgraph>> RecordOnce(
    const Driver& driver, CUstream stream,
    absl::FunctionRef<absl::Status(CUstream)> record) {
  REPRISE_RETURN_IF_ERROR(ToStatus(
      driver,
      driver.StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
      "cuStreamBeginCapture"));
  const absl::Status recorded = record(stream);

  // The capture ends before `recorded` is looked at: a stream left in capture
  // mode would fail every later call.
  CUgraph raw = nullptr;
  const CUresult ended = driver.StreamEndCapture(stream, &raw);
  UniqueHandle<CUgraph> graph(raw, driver.GraphDestroy);
  REPRISE_RETURN_IF_ERROR(recorded);
  REPRISE_RETURN_IF_ERROR(ToStatus(driver, ended, "cuStreamEndCapture"));
  return graph;
}

}  // namespace

absl::StatusOr<UniqueHandle<CUgraph>> Record(
    const CurrentContext& current, CUstream stream,
    absl::FunctionRef<absl::Status(CUstream)> record, const CaptureCheck& check,
    size_t* nodes) {
  const Driver& driver = current.driver();
  int64_t taken = 0;
  for (int i = 0; i < kRecordings; ++i) {
    REPRISE_ASSIGN_OR_RETURN(const MemoryInfo before,
                             DeviceMemoryInfo(current));
    REPRISE_ASSIGN_OR_RETURN(UniqueHandle<CUgraph> graph,
                             RecordOnce(driver, stream, record));
    REPRISE_ASSIGN_OR_RETURN(const MemoryInfo after, DeviceMemoryInfo(current));
    REPRISE_ASSIGN_OR_RETURN(const std::vector<CUgraphNode> found,
                             NodesOf(driver, graph.get()));
    REPRISE_RETURN_IF_ERROR(CheckNodes(driver, found, check));
    *nodes = found.size();
    taken = before.free - after.free;
    if (taken <= 0) return graph;
  }
  return absl::FailedPreconditionError(
      absl::StrCat("recording a graph took ", taken,
                   " bytes of device memory, each of ", kRecordings, " times"));
}

absl::StatusOr<CapturedGraph> Instantiate(const CurrentContext& current,
                                          UniqueHandle<CUgraph> graph,
                                          size_t nodes) {
  const Driver& driver = current.driver();
  CUDA_GRAPH_INSTANTIATE_PARAMS params = {};
  CUgraphExec exec = nullptr;
  const CUresult result =
      driver.GraphInstantiateWithParams(&exec, graph.get(), &params);
  if (result != CUDA_SUCCESS) {
    std::string where = "cuGraphInstantiate";
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    if (params.hErrNode_out != nullptr &&
        driver.GraphNodeGetType(params.hErrNode_out, &type) == CUDA_SUCCESS) {
      absl::StrAppend(&where, " at a ", NodeTypeText(type), " node");
    }
    return ToStatus(driver, result, where);
  }
  CapturedGraph captured;
  captured.exec = UniqueHandle<CUgraphExec>(exec, driver.GraphExecDestroy);
  captured.graph = std::move(graph);
  captured.nodes = nodes;
  return captured;
}

}  // namespace reprise::cuda
