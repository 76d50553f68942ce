// A request's share of a batch's output slot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "runtime/tensor/signature.h"

namespace reprise {

// The outputs of one executed batch. Shares are counted: when the last one is
// dropped, the slot goes back to its pool. Implemented by the worker, and by
// tests.
class BatchResult {
 public:
  virtual ~BatchResult() = default;

  // Signature of the executable: every dim but the batch is bound. Valid while
  // a share is held.
  virtual const Signature& signature() const = 0;
  virtual std::span<const std::byte> output(int k) const = 0;
  // Whether shares may be held for long (a reply that references the slot while
  // gRPC sends it). False when slots are scarce: copy and let go.
  virtual bool may_hold_slot() const = 0;

 protected:
  friend class BatchOutput;
  virtual void Ref() = 0;
  virtual void Unref() = 0;
};

// Rows [first_row, first_row + rows) of a BatchResult; move-only.
//
// Threads: any thread, one at a time; dropping it may be done on any thread.
class BatchOutput {
 public:
  BatchOutput() = default;
  BatchOutput(BatchResult* result, int first_row, int rows)
      : result_(result), first_row_(first_row), rows_(rows) {
    if (result_ != nullptr) result_->Ref();
  }
  BatchOutput(BatchOutput&& other) noexcept
      : result_(std::exchange(other.result_, nullptr)),
        first_row_(other.first_row_),
        rows_(other.rows_) {}
  BatchOutput& operator=(BatchOutput&& other) noexcept {
    std::swap(result_, other.result_);
    std::swap(first_row_, other.first_row_);
    std::swap(rows_, other.rows_);
    return *this;
  }
  ~BatchOutput() { Reset(); }

  void Reset() {
    if (result_ != nullptr) std::exchange(result_, nullptr)->Unref();
  }
  explicit operator bool() const { return result_ != nullptr; }

  int rows() const { return rows_; }
  const Signature& signature() const { return result_->signature(); }
  bool may_hold_slot() const { return result_->may_hold_slot(); }

  // The bytes of output `k` for these rows only: never the padding.
  std::span<const std::byte> bytes(int k) const;

  // A second share of the same rows (one a reply slice, say).
  BatchOutput Share() const { return {result_, first_row_, rows_}; }

 private:
  BatchResult* result_ = nullptr;
  int first_row_ = 0;
  int rows_ = 0;
};

}  // namespace reprise
