// A closed-loop client of one unary method, for measuring servers.
//
//   serving_load ADDRESS MODEL ELEMENTS DEPTH CONNECTIONS THREADS SECONDS
//
// Sends a ModelInferRequest for `MODEL` with one INT32 input INPUT0 of shape
// [1, ELEMENTS], encoded once, raw bytes both ways, and keeps DEPTH calls in
// flight over CONNECTIONS connections, which THREADS threads share evenly, each
// with one completion queue. Prints one JSON object; exits 1 if a call failed.
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/thread.h"
#include "tests/bench/serving/infer_request.h"

namespace reprise::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

struct Load {
  std::string address;
  grpc::ByteBuffer request;
  int depth = 1;                  // calls in flight, of one thread
  int connections = 1;            // of one thread
  int thread = 0;                 // which one
  SteadyClock::time_point start;  // of counting: what began before is warm-up
  SteadyClock::time_point end;
};

struct Tally {
  int64_t all_calls = 0;      // warm-up included
  std::vector<float> micros;  // one a call that ended while counting
  int64_t errors = 0;
  std::string first_error;
};

// One thread's connections and calls.
class Caller {
 public:
  explicit Caller(const Load& load) : load_(load) {
    for (int i = 0; i < load.connections; ++i) {
      grpc::ChannelArguments arguments;
      arguments.SetMaxReceiveMessageSize(-1);
      // Channels of equal arguments would share one connection.
      arguments.SetInt("serving_load.connection",
                       load.thread * load.connections + i);
      stubs_.push_back(
          std::make_unique<grpc::GenericStub>(grpc::CreateCustomChannel(
              load.address, grpc::InsecureChannelCredentials(), arguments)));
    }
  }

  Tally Run() {
    std::vector<Call> calls(static_cast<size_t>(load_.depth));
    for (size_t i = 0; i < calls.size(); ++i) {
      calls[i].stub = stubs_[i % stubs_.size()].get();
      Start(calls[i]);
    }
    int in_flight = load_.depth;
    void* tag = nullptr;
    bool ok = false;
    while (in_flight > 0 && queue_.Next(&tag, &ok)) {
      Call& call = *static_cast<Call*>(tag);
      const SteadyClock::time_point now = SteadyClock::now();
      Count(call, now);
      if (now < load_.end && tally_.errors == 0) {
        Start(call);
      } else {
        --in_flight;
      }
    }
    return std::move(tally_);
  }

 private:
  struct Call {
    grpc::GenericStub* stub = nullptr;
    std::optional<grpc::ClientContext> context;
    std::unique_ptr<grpc::ClientAsyncResponseReader<grpc::ByteBuffer>> reader;
    grpc::ByteBuffer reply;
    grpc::Status status;
    SteadyClock::time_point began;
  };

  void Start(Call& call) {
    call.context.emplace();
    call.context->set_wait_for_ready(true);
    call.began = SteadyClock::now();
    call.reader = call.stub->PrepareUnaryCall(
        &*call.context, "/inference.GRPCInferenceService/ModelInfer",
        load_.request, &queue_);
    call.reader->StartCall();
    call.reader->Finish(&call.reply, &call.status, &call);
  }

  void Count(const Call& call, SteadyClock::time_point now) {
    ++tally_.all_calls;
    if (!call.status.ok()) {
      if (tally_.errors++ == 0)
        tally_.first_error = call.status.error_message();
      return;
    }
    if (call.began < load_.start || now > load_.end) return;
    tally_.micros.push_back(
        std::chrono::duration<float, std::micro>(now - call.began).count());
  }

  const Load& load_;
  std::vector<std::unique_ptr<grpc::GenericStub>> stubs_;
  grpc::CompletionQueue queue_;
  Tally tally_;
};

Tally RunAll(const Load& load, int thread_count) {
  std::vector<Load> loads(static_cast<size_t>(thread_count), load);
  std::vector<Tally> tallies(loads.size());
  {
    std::vector<Thread> threads;
    for (size_t i = 0; i < loads.size(); ++i) {
      loads[i].thread = static_cast<int>(i);
      threads.emplace_back("load", [&loads, &tallies, i] {
        tallies[i] = Caller(loads[i]).Run();
      });
    }
  }
  Tally all = std::move(tallies[0]);
  for (size_t i = 1; i < tallies.size(); ++i) {
    all.micros.insert(all.micros.end(), tallies[i].micros.begin(),
                      tallies[i].micros.end());
    all.all_calls += tallies[i].all_calls;
    all.errors += tallies[i].errors;
    if (all.first_error.empty()) all.first_error = tallies[i].first_error;
  }
  return all;
}

double Quantile(std::vector<float>& sorted, double q) {
  if (sorted.empty()) return 0;
  return sorted[static_cast<size_t>(q *
                                    static_cast<double>(sorted.size() - 1))];
}

int Run(char** argument) {
  const int depth = std::atoi(argument[4]);
  const int connections = std::atoi(argument[5]);
  const int threads = std::atoi(argument[6]);
  const double seconds = std::atof(argument[7]);
  const int64_t elements = std::atoll(argument[3]);
  if (threads < 1 || connections % threads != 0 || connections < 1 ||
      depth % connections != 0 || depth < 1 || seconds <= 0 || elements < 1) {
    std::fprintf(stderr,
                 "all numbers must be positive, DEPTH a multiple of "
                 "CONNECTIONS, and that of THREADS\n");
    return 2;
  }
  Load load;
  load.address = argument[1];
  const grpc::Slice encoded(EncodeInferRequest(argument[2], elements));
  load.request = grpc::ByteBuffer(&encoded, 1);
  load.depth = depth / threads;
  load.connections = connections / threads;
  load.start = SteadyClock::now() + std::chrono::milliseconds(300);
  load.end = load.start + std::chrono::duration_cast<SteadyClock::duration>(
                              std::chrono::duration<double>(seconds));
  Tally tally = RunAll(load, threads);
  std::sort(tally.micros.begin(), tally.micros.end());
  std::printf("{\"calls\": %zu, \"all_calls\": %" PRId64
              ", \"errors\": %" PRId64
              ", \"rate\": %.1f, \"p50_us\": %.2f, \"p99_us\": %.2f}\n",
              tally.micros.size(), tally.all_calls, tally.errors,
              static_cast<double>(tally.micros.size()) / seconds,
              Quantile(tally.micros, 0.5), Quantile(tally.micros, 0.99));
  if (tally.errors > 0) {
    std::fprintf(stderr, "failed: %s\n", tally.first_error.c_str());
  }
  return tally.errors > 0 ? 1 : 0;
}

}  // namespace
}  // namespace reprise::bench

int main(int argc, char** argv) {
  if (argc != 8) {
    std::fprintf(stderr,
                 "usage: %s ADDRESS MODEL ELEMENTS DEPTH CONNECTIONS THREADS "
                 "SECONDS\n",
                 argv[0]);
    return 2;
  }
  return reprise::bench::Run(argv);
}
