#include "tests/gpu/instruments.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <span>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/log.h"
#include "runtime/base/status_macros.h"
#include "runtime/cuda/stream.h"
#include "tests/gpu/test_kernels.h"

namespace reprise::gpu_test {
namespace {

using cuda::CurrentContext;
using cuda::ToStatus;

constexpr size_t kWords = 3;  // see kStampKernels
constexpr absl::Duration kWritePeriod = absl::Milliseconds(100);

// The largest pieces that there are, down to those that share a page.
std::vector<cuda::DeviceBuffer> TakeAll(const CurrentContext& current) {
  std::vector<cuda::DeviceBuffer> taken;
  for (int64_t bytes = int64_t{64} << 30; bytes >= int64_t{64} << 10;) {
    auto buffer = cuda::DeviceBuffer::Allocate(current, bytes);
    if (buffer.ok()) {
      taken.push_back(*std::move(buffer));
    } else {
      bytes /= 2;
    }
  }
  return taken;
}

void LogIfFailed(const absl::Status& status) {
  if (!status.ok()) LogError(status.message());
}

}  // namespace

absl::StatusOr<std::unique_ptr<GraphStamps>> GraphStamps::Create(
    const cuda::Driver& driver, CUdevice device, std::string file,
    Clock& clock) {
  REPRISE_ASSIGN_OR_RETURN(auto context,
                           cuda::PrimaryContext::Retain(driver, device));
  auto stamps = absl::WrapUnique(
      new GraphStamps(std::move(context), std::move(file), clock));
  REPRISE_RETURN_IF_ERROR(stamps->Make());
  stamps->thread_ = Thread("stamps", [one = stamps.get()] { one->Run(); });
  return stamps;
}

absl::Status GraphStamps::Make() {
  REPRISE_ASSIGN_OR_RETURN(const CurrentContext current,
                           CurrentContext::Enter(*context_));
  REPRISE_RETURN_IF_ERROR(
      modules_.Add(current, "stamps", std::as_bytes(std::span(kStampKernels))));
  REPRISE_ASSIGN_OR_RETURN(begin_, modules_.Find(current, "stamp_begin", 0));
  REPRISE_ASSIGN_OR_RETURN(end_, modules_.Find(current, "stamp_end", 0));
  REPRISE_ASSIGN_OR_RETURN(
      words_, cuda::DeviceBuffer::Allocate(current, kWords * sizeof(uint64_t)));
  REPRISE_ASSIGN_OR_RETURN(
      copy_, cuda::PinnedBuffer::Allocate(current, kWords * sizeof(uint64_t)));
  REPRISE_ASSIGN_OR_RETURN(stream_, cuda::MakeStream(current));
  const cuda::Driver& driver = context_->driver();
  REPRISE_RETURN_IF_ERROR(
      ToStatus(driver,
               driver.MemsetD8Async(words_.address(), 0,
                                    kWords * sizeof(uint64_t), stream_.get()),
               "clearing the stamps"));
  return Write(current);
}

GraphStamps::~GraphStamps() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  thread_.Join();
  const auto current = CurrentContext::Enter(*context_);
  if (!current.ok()) return;
  LogIfFailed(Write(*current));
  stream_.reset();
  words_ = cuda::DeviceBuffer();
  copy_ = cuda::PinnedBuffer();
}

absl::Status GraphStamps::Launch(CUfunction kernel, CUstream stream) {
  CUlaunchConfig config = {};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream;
  CUdeviceptr words = words_.address();
  void* arguments[] = {&words};
  const cuda::Driver& driver = context_->driver();
  return ToStatus(driver,
                  driver.LaunchKernelEx(&config, kernel, arguments, nullptr),
                  "a stamp");
}

absl::Status GraphStamps::Begin(const CurrentContext& /*current*/,
                                CUstream stream) {
  return Launch(begin_, stream);
}

absl::Status GraphStamps::End(const CurrentContext& /*current*/,
                              CUstream stream) {
  return Launch(end_, stream);
}

absl::Status GraphStamps::Write(const CurrentContext& current) {
  const cuda::Driver& driver = current.driver();
  REPRISE_RETURN_IF_ERROR(
      ToStatus(driver,
               driver.MemcpyDtoHAsync(copy_.data(), words_.address(),
                                      kWords * sizeof(uint64_t), stream_.get()),
               "reading the stamps"));
  REPRISE_RETURN_IF_ERROR(ToStatus(
      driver, driver.StreamSynchronize(stream_.get()), "reading the stamps"));
  uint64_t words[kWords];
  std::memcpy(words, copy_.data(), sizeof(words));
  const std::string next = absl::StrCat(file_, ".next");
  std::ofstream(next) << "count " << words[2] << "\nseconds "
                      << absl::StrCat(static_cast<double>(words[1]) * 1e-9)
                      << "\n";
  if (std::rename(next.c_str(), file_.c_str()) == 0) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("cannot write ", file_));
}

void GraphStamps::Run() {
  const auto current = CurrentContext::Enter(*context_);
  if (!current.ok()) return LogIfFailed(current.status());
  for (;;) {
    {
      absl::MutexLock lock(&mu_);
      clock_.Await(mu_, absl::Condition(&stopping_),
                   clock_.Now() + kWritePeriod);
      if (stopping_) return;
    }
    const absl::Status status = Write(*current);
    if (!status.ok()) return LogIfFailed(status);
  }
}

absl::StatusOr<std::unique_ptr<MemoryFiller>> MemoryFiller::Create(
    const cuda::Driver& driver, CUdevice device, int at, absl::Duration hold,
    Clock& clock) {
  REPRISE_ASSIGN_OR_RETURN(auto context,
                           cuda::PrimaryContext::Retain(driver, device));
  auto filler =
      absl::WrapUnique(new MemoryFiller(std::move(context), at, hold, clock));
  filler->thread_ = Thread("filler", [one = filler.get()] { one->Run(); });
  return filler;
}

MemoryFiller::~MemoryFiller() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  thread_.Join();
}

// Another thread takes the memory: this one is capturing.
absl::Status MemoryFiller::Begin(const CurrentContext& /*current*/,
                                 CUstream /*stream*/) {
  absl::MutexLock lock(&mu_);
  if (++graphs_ != at_) return absl::OkStatus();
  const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return filled_ || stopping_;
  };
  mu_.Await(absl::Condition(&ready));
  return absl::OkStatus();
}

void MemoryFiller::Run() {
  const auto current = CurrentContext::Enter(*context_);
  if (!current.ok()) return LogIfFailed(current.status());
  {
    const auto wanted = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      return graphs_ >= at_ || stopping_;
    };
    absl::MutexLock lock(&mu_, absl::Condition(&wanted));
    if (stopping_) return;
  }
  const std::vector<cuda::DeviceBuffer> ballast = TakeAll(*current);
  int64_t bytes = 0;
  for (const cuda::DeviceBuffer& buffer : ballast) bytes += buffer.bytes();
  LogInfo(absl::StrCat("test memory is full taken_bytes=", bytes));
  absl::MutexLock lock(&mu_);
  filled_ = true;
  clock_.Await(mu_, absl::Condition(&stopping_), clock_.Now() + hold_);
  LogInfo("test memory given back");
}

}  // namespace reprise::gpu_test
