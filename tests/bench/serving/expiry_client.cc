// How late a request is answered whose `timeout` passes while it waits.
//
//   serving_expiry ADDRESS MODEL COUNT
//
// Keeps two calls of MODEL (INT32 [1]; its batches should take long) in flight,
// so that a batch always runs and one waits, and sends COUNT calls, ten at a
// time, with timeouts of 1 to 50 ms. Prints, of those that were answered
// DEADLINE_EXCEEDED, how long after its timeout the answer came, as JSON.
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/bench/serving/infer_request.h"

namespace reprise::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

class Client {
 public:
  Client(const std::string& address, std::string model)
      : model_(std::move(model)),
        stub_(
            grpc::CreateChannel(address, grpc::InsecureChannelCredentials())) {}

  // False if a call ended neither OK nor DEADLINE_EXCEEDED.
  bool Run(int count) {
    std::mt19937 random(1);
    std::uniform_int_distribution<int> timeout_us(1'000, 50'000);
    for (int i = 0; i < 2; ++i) Send(0);
    while (static_cast<int>(late_us_.size()) < count && !failed_) {
      for (int i = 0; i < 10; ++i) Send(timeout_us(random));
      while (timed_ > 0) Receive(/*refill=*/true);
    }
    while (in_flight_ > 0) Receive(/*refill=*/false);
    return !failed_;
  }

  void Print() {
    std::sort(late_us_.begin(), late_us_.end());
    const auto at = [this](double q) {
      if (late_us_.empty()) return 0.0;
      const auto last = static_cast<double>(late_us_.size() - 1);
      return late_us_[static_cast<size_t>(q * last)];
    };
    std::printf(
        "{\"expired\": %zu, \"run\": %d, \"p50_us\": %.1f, \"p99_us\": %.1f, "
        "\"max_us\": %.1f}\n",
        late_us_.size(), run_, at(0.5), at(0.99), at(1));
  }

 private:
  struct Call {
    grpc::ClientContext context;
    grpc::ByteBuffer request;
    grpc::ByteBuffer reply;
    grpc::Status status;
    std::unique_ptr<grpc::ClientAsyncResponseReader<grpc::ByteBuffer>> reader;
    std::chrono::microseconds timeout{0};
    SteadyClock::time_point sent;
  };

  void Send(int timeout_us) {
    auto* call = new Call;
    const grpc::Slice encoded(EncodeInferRequest(model_, 1, timeout_us));
    call->request = grpc::ByteBuffer(&encoded, 1);
    call->timeout = std::chrono::microseconds(timeout_us);
    call->reader = stub_.PrepareUnaryCall(
        &call->context, "/inference.GRPCInferenceService/ModelInfer",
        call->request, &queue_);
    call->sent = SteadyClock::now();
    call->reader->StartCall();
    call->reader->Finish(&call->reply, &call->status, call);
    ++in_flight_;
    if (timeout_us > 0) ++timed_;
  }

  void Receive(bool refill) {
    void* tag = nullptr;
    bool ok = false;
    if (!queue_.Next(&tag, &ok)) return;
    const SteadyClock::time_point now = SteadyClock::now();
    const std::unique_ptr<Call> call(static_cast<Call*>(tag));
    --in_flight_;
    const bool timed = call->timeout.count() > 0;
    if (timed) --timed_;
    if (timed &&
        call->status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) {
      late_us_.push_back(std::chrono::duration<double, std::micro>(
                             now - call->sent - call->timeout)
                             .count());
    } else if (call->status.ok()) {
      if (timed) ++run_;
      if (!timed && refill) Send(0);
    } else {
      std::fprintf(stderr, "%s\n", call->status.error_message().c_str());
      failed_ = true;
    }
  }

  const std::string model_;
  grpc::GenericStub stub_;
  grpc::CompletionQueue queue_;
  int in_flight_ = 0;
  int timed_ = 0;
  int run_ = 0;  // timed calls that were run after all
  bool failed_ = false;
  std::vector<double> late_us_;
};

}  // namespace
}  // namespace reprise::bench

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s ADDRESS MODEL COUNT\n", argv[0]);
    return 2;
  }
  reprise::bench::Client client(argv[1], argv[2]);
  const bool ok = client.Run(std::atoi(argv[3]));
  client.Print();
  return ok ? 0 : 1;
}
