// Streams, events, copies, and captures.
#include <algorithm>

#include "tests/testing/fake_cuda_state.h"

namespace reprise::testing {
namespace {

CUresult Invalidate(FakeCudaState& state, FakeCapture& capture, CUresult result,
                    const char* text) {
  capture.invalid = true;
  return state.Misuse(result, text);
}

bool IsOpen(const FakeCudaState& state,
            const std::shared_ptr<FakeCapture>& capture) {
  return std::find(state.captures.begin(), state.captures.end(), capture) !=
         state.captures.end();
}

// Whether the last node of every branch is one of the origin's last.
bool AllJoined(const FakeCapture& capture, const std::set<size_t>& frontier) {
  std::vector<bool> followed(capture.nodes.size());
  for (const FakeOp& op : capture.nodes) {
    for (const size_t node : op.after) followed[node] = true;
  }
  for (size_t i = 0; i < followed.size(); ++i) {
    if (!followed[i] && !frontier.contains(i)) return false;
  }
  return true;
}

CUgraphNodeType TypeOf(const FakeOp& op) {
  if (std::holds_alternative<FakeKernelOp>(op.what)) {
    return CU_GRAPH_NODE_TYPE_KERNEL;
  }
  return std::holds_alternative<FakeCopyOp>(op.what)
             ? CU_GRAPH_NODE_TYPE_MEMCPY
             : CU_GRAPH_NODE_TYPE_MEMSET;
}

CUgraph NewGraph(FakeCudaState& state, std::vector<FakeOp> ops) {
  FakeGraph graph;
  for (const FakeOp& op : ops) {
    graph.nodes.push_back(state.NewHandle<CUgraphNode>());
    state.nodes[graph.nodes.back()] = TypeOf(op);
  }
  graph.ops = std::make_shared<const std::vector<FakeOp>>(std::move(ops));
  const auto handle = state.NewHandle<CUgraph>();
  state.graphs[handle] = std::move(graph);
  return handle;
}

// The stream joins the capture that the event was recorded in.
CUresult JoinCapture(FakeCudaState& state, FakeStream& stream,
                     const FakeEvent& event) {
  if (!IsOpen(state, event.capture)) {
    return state.Misuse(CUDA_ERROR_CAPTURED_EVENT,
                        "StreamWaitEvent: the event's capture is over");
  }
  if (stream.capture != nullptr && stream.capture != event.capture) {
    stream.capture->invalid = true;
    return Invalidate(state, *event.capture, CUDA_ERROR_STREAM_CAPTURE_MERGE,
                      "StreamWaitEvent would merge two captures");
  }
  stream.capture = event.capture;
  stream.frontier.insert(event.frontier.begin(), event.frontier.end());
  return CUDA_SUCCESS;
}

// Issues a copy or a fill of device memory that is there.
CUresult IssueOp(const char* what, CUstream handle, CUdeviceptr address,
                 size_t bytes, FakeOp op) {
  return FakeCuda::Current().Call(what, false, [&](FakeCudaState& state) {
    FakeStream* const stream = state.FindStream(handle, what);
    if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (bytes == 0) return CUDA_SUCCESS;
    const auto* const copy = std::get_if<FakeCopyOp>(&op.what);
    if (state.Resolve(address, bytes) == nullptr ||
        (copy != nullptr && copy->from != 0 &&
         state.Resolve(copy->from, bytes) == nullptr)) {
      return state.Misuse(
          CUDA_ERROR_INVALID_VALUE,
          absl::StrCat(what, ": ", bytes, " bytes that are not all there"));
    }
    if (copy != nullptr && copy->from == 0 &&
        (copy->host == nullptr ||
         (reinterpret_cast<uintptr_t>(copy->host) & kDeviceBit) != 0)) {
      return state.Misuse(CUDA_ERROR_INVALID_VALUE,
                          absl::StrCat(what, ": no host address"));
    }
    return state.Issue(*stream, std::move(op));
  });
}

}  // namespace

CUresult FakeStreamCreateWithPriority(CUstream* stream, unsigned flags, int) {
  return FakeCuda::Current().Call(
      "StreamCreateWithPriority", false, [&](FakeCudaState& state) {
        const CUcontext context =
            state.CurrentContext("StreamCreateWithPriority");
        if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
        *stream = state.NewHandle<CUstream>();
        FakeStream made;
        made.context = context;
        made.flags = flags;
        state.streams[*stream] = std::move(made);
        return CUDA_SUCCESS;
      });
}

CUresult FakeStreamDestroy(CUstream handle) {
  return FakeCuda::Current().Call(
      "StreamDestroy", true, [&](FakeCudaState& state) {
        FakeStream* const stream =
            state.Find(state.streams, handle, "StreamDestroy");
        if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        if (stream->capture != nullptr) {
          stream->capture->invalid = true;
          std::erase(state.captures, stream->capture);
          state.misuses.push_back("StreamDestroy of a stream in capture");
        }
        if (!stream->queue.empty()) {
          state.misuses.push_back("StreamDestroy of a stream with work");
        }
        state.streams.erase(handle);
        return CUDA_SUCCESS;
      });
}

CUresult FakeStreamGetFlags(CUstream handle, unsigned* flags) {
  return FakeCuda::Current().Call(
      "StreamGetFlags", false, [&](FakeCudaState& state) {
        const FakeStream* const stream =
            state.FindStream(handle, "StreamGetFlags");
        if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        *flags = stream->flags;
        return CUDA_SUCCESS;
      });
}

CUresult FakeStreamSynchronize(CUstream stream) {
  return FakeCuda::Current().Synchronize(stream);
}

CUresult FakeStreamQuery(CUstream handle) {
  return FakeCuda::Current().Call(
      "StreamQuery", false, [&](FakeCudaState& state) {
        const FakeStream* const stream =
            state.FindStream(handle, "StreamQuery");
        if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        if (stream->capture != nullptr) {
          return Invalidate(state, *stream->capture,
                            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                            "StreamQuery of a stream in capture");
        }
        return stream->queue.empty() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
      });
}

CUresult FakeStreamWaitEvent(CUstream handle, CUevent event_handle, unsigned) {
  return FakeCuda::Current().Call(
      "StreamWaitEvent", false, [&](FakeCudaState& state) {
        FakeStream* const stream = state.FindStream(handle, "StreamWaitEvent");
        const FakeEvent* const event =
            state.FindEvent(event_handle, "StreamWaitEvent");
        if (stream == nullptr || event == nullptr) {
          return CUDA_ERROR_INVALID_HANDLE;
        }
        if (event->capture != nullptr) {
          return JoinCapture(state, *stream, *event);
        }
        if (stream->capture != nullptr) {
          return Invalidate(state, *stream->capture,
                            CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
                            "StreamWaitEvent: an event from outside a capture");
        }
        if (event->mark == nullptr) return CUDA_SUCCESS;
        FakeWork work;
        work.wait_for = {event->mark};
        state.Enqueue(*stream, std::move(work));
        return CUDA_SUCCESS;
      });
}

CUresult FakeStreamBeginCapture(CUstream handle, CUstreamCaptureMode mode) {
  return FakeCuda::Current().Call(
      "StreamBeginCapture", false, [&](FakeCudaState& state) {
        FakeStream* const stream =
            state.FindStream(handle, "StreamBeginCapture");
        if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        if (stream->capture != nullptr) {
          return state.Misuse(CUDA_ERROR_ILLEGAL_STATE,
                              "StreamBeginCapture twice");
        }
        if ((stream->flags & CU_STREAM_NON_BLOCKING) == 0) {
          state.misuses.push_back("StreamBeginCapture of a blocking stream");
        }
        stream->capture = std::make_shared<FakeCapture>();
        stream->capture->thread = FakeThread();
        stream->capture->mode = mode;
        stream->capture->origin = handle;
        stream->frontier.clear();
        state.captures.push_back(stream->capture);
        return CUDA_SUCCESS;
      });
}

CUresult FakeStreamEndCapture(CUstream handle, CUgraph* graph) {
  return FakeCuda::Current().Call(
      "StreamEndCapture", true, [&](FakeCudaState& state) {
        *graph = nullptr;
        FakeStream* const stream = state.FindStream(handle, "StreamEndCapture");
        if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        const std::shared_ptr<FakeCapture> capture = stream->capture;
        if (capture == nullptr) {
          return state.Misuse(CUDA_ERROR_ILLEGAL_STATE,
                              "StreamEndCapture without a capture");
        }
        if (capture->origin != handle) {
          return Invalidate(state, *capture,
                            CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
                            "StreamEndCapture of a stream that joined");
        }
        if (capture->thread != FakeThread() &&
            capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED) {
          return Invalidate(state, *capture,
                            CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
                            "StreamEndCapture on another thread");
        }
        const std::set<size_t> frontier = std::move(stream->frontier);
        std::erase(state.captures, capture);
        for (auto& [other, joined] : state.streams) {
          if (joined.capture != capture) continue;
          joined.capture = nullptr;
          joined.frontier.clear();
        }
        if (state.failing) return CUDA_SUCCESS;  // the graph is not kept
        if (capture->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
        if (!AllJoined(*capture, frontier)) {
          return state.Misuse(CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
                              "StreamEndCapture: a branch was not joined");
        }
        *graph = NewGraph(state, std::move(capture->nodes));
        return CUDA_SUCCESS;
      });
}

CUresult FakeEventCreate(CUevent* event, unsigned flags) {
  return FakeCuda::Current().Call(
      "EventCreate", false, [&](FakeCudaState& state) {
        const CUcontext context = state.CurrentContext("EventCreate");
        if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
        *event = state.NewHandle<CUevent>();
        FakeEvent made;
        made.context = context;
        made.flags = flags;
        state.events[*event] = std::move(made);
        return CUDA_SUCCESS;
      });
}

CUresult FakeEventDestroy(CUevent event) {
  return FakeCuda::Current().Call(
      "EventDestroy", true, [&](FakeCudaState& state) {
        if (state.Find(state.events, event, "EventDestroy") == nullptr) {
          return CUDA_ERROR_INVALID_HANDLE;
        }
        state.events.erase(event);
        return CUDA_SUCCESS;
      });
}

CUresult FakeEventRecord(CUevent event_handle, CUstream handle) {
  return FakeCuda::Current().Call(
      "EventRecord", false, [&](FakeCudaState& state) {
        FakeStream* const stream = state.FindStream(handle, "EventRecord");
        FakeEvent* const event = state.FindEvent(event_handle, "EventRecord");
        if (stream == nullptr || event == nullptr) {
          return CUDA_ERROR_INVALID_HANDLE;
        }
        event->capture = stream->capture;
        event->frontier = stream->frontier;
        event->mark = nullptr;
        if (stream->capture != nullptr) return CUDA_SUCCESS;
        event->mark = std::make_shared<FakeMark>();
        FakeWork work;
        work.end = event->mark;
        state.Enqueue(*stream, std::move(work));
        return CUDA_SUCCESS;
      });
}

CUresult FakeEventQuery(CUevent handle) {
  return FakeCuda::Current().Call(
      "EventQuery", false, [&](FakeCudaState& state) {
        const FakeEvent* const event = state.FindEvent(handle, "EventQuery");
        if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        if (event->capture != nullptr) {
          return Invalidate(state, *event->capture, CUDA_ERROR_CAPTURED_EVENT,
                            "EventQuery of a captured event");
        }
        const bool done = event->mark == nullptr || event->mark->done;
        return done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
      });
}

CUresult FakeEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return FakeCuda::Current().Call(
      "EventElapsedTime", false, [&](FakeCudaState& state) {
        const FakeEvent* const from =
            state.FindEvent(start, "EventElapsedTime");
        const FakeEvent* const to = state.FindEvent(end, "EventElapsedTime");
        if (from == nullptr || to == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        if (from->mark == nullptr || to->mark == nullptr ||
            ((from->flags | to->flags) & CU_EVENT_DISABLE_TIMING) != 0) {
          return state.Misuse(
              CUDA_ERROR_INVALID_HANDLE,
              "EventElapsedTime of events without a recorded time");
        }
        if (!from->mark->done || !to->mark->done) return CUDA_ERROR_NOT_READY;
        *milliseconds = static_cast<float>(
            static_cast<double>(to->mark->time - from->mark->time) / 1e6);
        return CUDA_SUCCESS;
      });
}

CUresult FakeMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes,
                             CUstream stream) {
  FakeCopyOp copy;
  copy.kind = FakeCopyOp::Kind::kHostToDevice;
  copy.device = to;
  copy.host = const_cast<void*>(from);
  copy.bytes = bytes;
  return IssueOp("MemcpyHtoDAsync", stream, to, bytes, FakeOp{copy, {}});
}

CUresult FakeMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes,
                             CUstream stream) {
  FakeCopyOp copy;
  copy.kind = FakeCopyOp::Kind::kDeviceToHost;
  copy.device = from;
  copy.host = to;
  copy.bytes = bytes;
  return IssueOp("MemcpyDtoHAsync", stream, from, bytes, FakeOp{copy, {}});
}

CUresult FakeMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                             CUstream stream) {
  FakeCopyOp copy;
  copy.kind = FakeCopyOp::Kind::kDeviceToDevice;
  copy.device = to;
  copy.from = from;
  copy.bytes = bytes;
  return IssueOp("MemcpyDtoDAsync", stream, to, bytes, FakeOp{copy, {}});
}

CUresult FakeMemsetD8Async(CUdeviceptr address, unsigned char value, size_t n,
                           CUstream stream) {
  FakeFillOp fill;
  fill.address = address;
  fill.value = value;
  fill.bytes = n;
  return IssueOp("MemsetD8Async", stream, address, n, FakeOp{fill, {}});
}

}  // namespace reprise::testing
