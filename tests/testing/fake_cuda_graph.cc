// Modules, kernels, and captured graphs.
#include <algorithm>

#include "tests/testing/fake_cuda_state.h"

namespace reprise::testing {
namespace {

// Where an argument of so many bytes stands in a buffer of arguments.
size_t AlignmentOf(size_t bytes) {
  const size_t lowest = bytes & (~bytes + 1);
  return std::clamp<size_t>(lowest, 1, 16);
}

std::vector<std::byte> Bytes(const void* from, size_t count) {
  const auto* const begin = static_cast<const std::byte*>(from);
  return {begin, begin + count};
}

// The arguments of a kernel whose sizes are known: by pointers, or in a buffer.
std::vector<std::vector<std::byte>> Arguments(const std::vector<size_t>* sizes,
                                              void** pointers, void** extra) {
  std::vector<std::vector<std::byte>> arguments;
  if (pointers != nullptr) {
    if (sizes == nullptr) return arguments;
    for (size_t i = 0; i < sizes->size(); ++i) {
      arguments.push_back(Bytes(pointers[i], (*sizes)[i]));
    }
    return arguments;
  }
  const std::byte* buffer = nullptr;
  size_t buffer_bytes = 0;
  for (; extra != nullptr && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) {
      buffer = static_cast<const std::byte*>(extra[1]);
    } else {
      buffer_bytes = *static_cast<const size_t*>(extra[1]);
    }
  }
  if (buffer == nullptr) return arguments;
  if (sizes == nullptr) {
    arguments.push_back(Bytes(buffer, buffer_bytes));
    return arguments;
  }
  size_t offset = 0;
  for (const size_t size : *sizes) {
    const size_t unit = AlignmentOf(size);
    offset = (offset + unit - 1) / unit * unit;
    if (offset + size > buffer_bytes) return {};
    arguments.push_back(Bytes(buffer + offset, size));
    offset += size;
  }
  return arguments;
}

// What the driver refuses in a launch; "": nothing.
std::string Fault(const FakeFunction& function, const CUlaunchConfig& config) {
  const uint64_t threads =
      uint64_t{config.blockDimX} * config.blockDimY * config.blockDimZ;
  if (config.gridDimX == 0 || config.gridDimY == 0 || config.gridDimZ == 0) {
    return "a grid without blocks";
  }
  if (config.gridDimX > 2147483647u || config.gridDimY > 65535 ||
      config.gridDimZ > 65535) {
    return "a grid that is too large";
  }
  if (threads == 0 || threads > 1024 || config.blockDimZ > 64) {
    return absl::StrCat("a block of ", threads, " threads");
  }
  if (config.sharedMemBytes > static_cast<unsigned>(function.max_shared)) {
    return absl::StrCat(config.sharedMemBytes, " bytes of shared memory, and ",
                        function.max_shared, " are allowed");
  }
  return "";
}

CUresult LaunchHere(FakeCudaState& state, const CUlaunchConfig& config,
                    CUfunction handle, void** pointers, void** extra) {
  FakeStream* const stream = state.FindStream(config.hStream, "LaunchKernelEx");
  FakeFunction* const function =
      state.Find(state.functions, handle, "LaunchKernelEx");
  if (stream == nullptr || function == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (function->context != stream->context) {
    return state.Misuse(CUDA_ERROR_INVALID_HANDLE,
                        "LaunchKernelEx: a kernel of another context");
  }
  if (const std::string fault = Fault(*function, config); !fault.empty()) {
    return state.Misuse(
        CUDA_ERROR_INVALID_VALUE,
        absl::StrCat("LaunchKernelEx ", function->name, ": ", fault));
  }
  if (stream->capture != nullptr && !function->loaded) {
    state.misuses.push_back(absl::StrCat("LaunchKernelEx ", function->name,
                                         ": captured before FuncLoad"));
  }
  function->loaded = true;
  const auto entry = state.kernels.find(function->name);
  const bool known = entry != state.kernels.end();
  FakeKernelOp op;
  op.function = handle;
  op.launch.name = function->name;
  op.launch.grid = {config.gridDimX, config.gridDimY, config.gridDimZ};
  op.launch.block = {config.blockDimX, config.blockDimY, config.blockDimZ};
  op.launch.shared_bytes = config.sharedMemBytes;
  op.launch.arguments =
      Arguments(known ? &entry->second.sizes : nullptr, pointers, extra);
  if (known && op.launch.arguments.size() != entry->second.sizes.size()) {
    return state.Misuse(
        CUDA_ERROR_INVALID_VALUE,
        absl::StrCat("LaunchKernelEx ", function->name, ": too few arguments"));
  }
  return state.Issue(*stream, FakeOp{std::move(op), {}});
}

}  // namespace

CUresult FakeModuleLoadData(CUmodule* module, const void* image) {
  return FakeCuda::Current().Call(
      "ModuleLoadData", false, [&](FakeCudaState& state) {
        const CUcontext context = state.CurrentContext("ModuleLoadData");
        if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
        if (!state.MayDoUnsafe("ModuleLoadData")) {
          return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
        if (image == nullptr) {
          return state.Misuse(CUDA_ERROR_INVALID_VALUE, "ModuleLoadData: null");
        }
        *module = state.NewHandle<CUmodule>();
        state.modules[*module].context = context;
        return CUDA_SUCCESS;
      });
}

CUresult FakeModuleUnload(CUmodule handle) {
  return FakeCuda::Current().Call(
      "ModuleUnload", true, [&](FakeCudaState& state) {
        const FakeModule* const module =
            state.Find(state.modules, handle, "ModuleUnload");
        if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        if (!state.MayDoUnsafe("ModuleUnload")) {
          return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
        for (const auto& [name, function] : module->functions) {
          state.functions.erase(function);
        }
        state.modules.erase(handle);
        return CUDA_SUCCESS;
      });
}

CUresult FakeModuleGetFunctionCount(unsigned* count, CUmodule handle) {
  return FakeCuda::Current().Call(
      "ModuleGetFunctionCount", false, [&](FakeCudaState& state) {
        if (state.Find(state.modules, handle, "ModuleGetFunctionCount") ==
            nullptr) {
          return CUDA_ERROR_INVALID_HANDLE;
        }
        *count = 0;
        for (const auto& [name, kernel] : state.kernels) {
          *count += state.hidden.contains(name) ? 0 : 1;
        }
        return CUDA_SUCCESS;
      });
}

CUresult FakeModuleEnumerateFunctions(CUfunction* functions, unsigned count,
                                      CUmodule handle) {
  return FakeCuda::Current().Call(
      "ModuleEnumerateFunctions", false, [&](FakeCudaState& state) {
        FakeModule* const module =
            state.Find(state.modules, handle, "ModuleEnumerateFunctions");
        if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        for (const auto& [name, kernel] : state.kernels) {
          if (state.hidden.contains(name)) continue;
          if (count-- == 0) break;
          CUfunction& known = module->functions[name];
          if (known == nullptr) {
            known = state.NewHandle<CUfunction>();
            state.functions[known] = FakeFunction{name, module->context};
          }
          *functions++ = known;
        }
        return CUDA_SUCCESS;
      });
}

CUresult FakeFuncGetName(const char** name, CUfunction handle) {
  return FakeCuda::Current().Call(
      "FuncGetName", false, [&](FakeCudaState& state) {
        const FakeFunction* const function =
            state.Find(state.functions, handle, "FuncGetName");
        if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        *name = function->name.c_str();
        return CUDA_SUCCESS;
      });
}

CUresult FakeFuncLoad(CUfunction handle) {
  return FakeCuda::Current().Call("FuncLoad", false, [&](FakeCudaState& state) {
    FakeFunction* const function =
        state.Find(state.functions, handle, "FuncLoad");
    if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (!function->loaded && !state.MayDoUnsafe("FuncLoad")) {
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    function->loaded = true;
    return CUDA_SUCCESS;
  });
}

CUresult FakeFuncGetAttribute(int* value, CUfunction_attribute attribute,
                              CUfunction handle) {
  return FakeCuda::Current().Call(
      "FuncGetAttribute", false, [&](FakeCudaState& state) {
        const FakeFunction* const function =
            state.Find(state.functions, handle, "FuncGetAttribute");
        if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        switch (attribute) {
          case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
            *value = 1024;
            return CUDA_SUCCESS;
          case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
            *value = function->max_shared;
            return CUDA_SUCCESS;
          default:
            *value = 0;
            return CUDA_SUCCESS;
        }
      });
}

CUresult FakeFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute,
                              int value) {
  return FakeCuda::Current().Call(
      "FuncSetAttribute", false, [&](FakeCudaState& state) {
        FakeFunction* const function =
            state.Find(state.functions, handle, "FuncSetAttribute");
        if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
          return CUDA_SUCCESS;
        }
        if (value < 0 || value > 227 << 10) {
          return state.Misuse(
              CUDA_ERROR_INVALID_VALUE,
              absl::StrCat("FuncSetAttribute ", function->name, ": ", value,
                           " bytes of shared memory"));
        }
        function->max_shared = value;
        return CUDA_SUCCESS;
      });
}

CUresult FakeLaunchKernelEx(const CUlaunchConfig* config, CUfunction function,
                            void** pointers, void** extra) {
  return FakeCuda::Current().Call(
      "LaunchKernelEx", false, [&](FakeCudaState& state) {
        return LaunchHere(state, *config, function, pointers, extra);
      });
}

CUresult FakeGraphGetNodes(CUgraph handle, CUgraphNode* nodes, size_t* count) {
  return FakeCuda::Current().Call(
      "GraphGetNodes", false, [&](FakeCudaState& state) {
        const FakeGraph* const graph =
            state.Find(state.graphs, handle, "GraphGetNodes");
        if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
        if (nodes != nullptr) {
          const size_t room = std::min(*count, graph->nodes.size());
          std::copy_n(graph->nodes.begin(), room, nodes);
        }
        *count = graph->nodes.size();
        return CUDA_SUCCESS;
      });
}

CUresult FakeGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  return FakeCuda::Current().Call(
      "GraphNodeGetType", false, [&](FakeCudaState& state) {
        const CUgraphNodeType* const found =
            state.Find(state.nodes, node, "GraphNodeGetType");
        if (found == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *type = *found;
        return CUDA_SUCCESS;
      });
}

CUresult FakeGraphInstantiateWithParams(CUgraphExec* exec, CUgraph handle,
                                        CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
  return FakeCuda::Current().Call(
      "GraphInstantiateWithParams", false, [&](FakeCudaState& state) {
        params->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
        const CUcontext context =
            state.CurrentContext("GraphInstantiateWithParams");
        const FakeGraph* const graph =
            state.Find(state.graphs, handle, "GraphInstantiateWithParams");
        if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
        if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
        const int device = state.context_devices.at(context);
        if (state.graph_bytes > state.FreeBytes(device)) {
          return CUDA_ERROR_OUT_OF_MEMORY;
        }
        FakeExec made;
        made.ops = graph->ops;
        made.context = context;
        made.uploaded =
            (params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) != 0;
        made.device = device;
        made.bytes = state.graph_bytes;
        state.used[static_cast<size_t>(device)] += made.bytes;
        *exec = state.NewHandle<CUgraphExec>();
        state.execs[*exec] = std::move(made);
        params->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
        return CUDA_SUCCESS;
      });
}

CUresult FakeGraphUpload(CUgraphExec handle, CUstream stream_handle) {
  return FakeCuda::Current().Call(
      "GraphUpload", false, [&](FakeCudaState& state) {
        FakeExec* const exec = state.Find(state.execs, handle, "GraphUpload");
        const FakeStream* const stream =
            state.FindStream(stream_handle, "GraphUpload");
        if (exec == nullptr || stream == nullptr) {
          return CUDA_ERROR_INVALID_HANDLE;
        }
        exec->uploaded = true;
        return CUDA_SUCCESS;
      });
}

CUresult FakeGraphLaunch(CUgraphExec handle, CUstream stream_handle) {
  return FakeCuda::Current().Call(
      "GraphLaunch", false, [&](FakeCudaState& state) {
        FakeExec* const exec = state.Find(state.execs, handle, "GraphLaunch");
        FakeStream* const stream =
            state.FindStream(stream_handle, "GraphLaunch");
        if (exec == nullptr || stream == nullptr) {
          return CUDA_ERROR_INVALID_HANDLE;
        }
        if (exec->context != stream->context) {
          return state.Misuse(CUDA_ERROR_INVALID_HANDLE,
                              "GraphLaunch: a graph of another context");
        }
        if (stream->capture != nullptr) {
          return state.Misuse(CUDA_ERROR_NOT_SUPPORTED,
                              "GraphLaunch in a capture: not in the fake");
        }
        FakeWork work;
        work.ops = exec->ops;
        work.graph = true;
        work.end = std::make_shared<FakeMark>();
        if (exec->last != nullptr) work.wait_for = {exec->last};
        exec->last = work.end;
        state.Enqueue(*stream, std::move(work));
        return CUDA_SUCCESS;
      });
}

CUresult FakeGraphDestroy(CUgraph handle) {
  return FakeCuda::Current().Call(
      "GraphDestroy", true, [&](FakeCudaState& state) {
        const FakeGraph* const graph =
            state.Find(state.graphs, handle, "GraphDestroy");
        if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
        for (CUgraphNode node : graph->nodes) state.nodes.erase(node);
        state.graphs.erase(handle);
        return CUDA_SUCCESS;
      });
}

CUresult FakeGraphExecDestroy(CUgraphExec handle) {
  return FakeCuda::Current().Call(
      "GraphExecDestroy", true, [&](FakeCudaState& state) {
        const FakeExec* const exec =
            state.Find(state.execs, handle, "GraphExecDestroy");
        if (exec == nullptr) return CUDA_ERROR_INVALID_VALUE;
        state.used[static_cast<size_t>(exec->device)] -= exec->bytes;
        state.execs.erase(handle);
        return CUDA_SUCCESS;
      });
}

}  // namespace reprise::testing
