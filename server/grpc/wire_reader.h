// Protobuf's wire format, read from bytes that lie in several pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <span>
#include <string>

#include "absl/strings/string_view.h"
#include "runtime/batch/infer_task.h"

namespace reprise {

enum class WireType : uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kLength = 2,
  kGroupStart = 3,
  kGroupEnd = 4,
  kFixed32 = 5,
};

// A message arrives as gRPC's slices. Text is borrowed where it lies in one
// piece and copied where it does not; tensors are never copied.
//
// Every Read returns false, with nothing promised about the position, when the
// bytes end (or the current limit is reached) or are not valid wire format.
class WireReader {
 public:
  using Piece = std::span<const std::byte>;

  // `pieces` must outlive the reader.
  explicit WireReader(std::span<const Piece> pieces);

  // A reader of the `length` bytes at `position` of the same pieces.
  WireReader At(size_t position, size_t length) const;

  size_t position() const { return position_; }
  bool done() const { return position_ == limit_; }

  // Confines reading to the next `length` bytes; false if there are not so
  // many. `outer` is what Leave takes to lift the limit again.
  bool Enter(size_t length, size_t& outer);
  void Leave(size_t outer) { limit_ = outer; }

  bool ReadTag(uint32_t& field, WireType& type);
  bool ReadVarint(uint64_t& value);
  bool ReadFixed32(uint32_t& value);
  bool ReadFixed64(uint64_t& value);
  // A length that the rest has room for.
  bool ReadLength(size_t& length);
  // A length and so many bytes. `scratch` owns the text that is in two pieces.
  bool ReadText(std::forward_list<std::string>& scratch,
                absl::string_view& text);
  // `length` bytes of text, likewise.
  bool ReadTextOf(size_t length, std::forward_list<std::string>& scratch,
                  absl::string_view& text);
  // A length and so many bytes, as they lie.
  bool ReadPieces(InputRows& rows);
  bool ReadRaw(void* to, size_t bytes);
  bool Skip(size_t bytes);
  // Skips the value of a field whose tag has been read. Groups are refused:
  // proto3 has none.
  bool SkipValue(WireType type);

 private:
  size_t left() const { return limit_ - position_; }
  // Of the current piece, within the limit; moves on from a finished piece.
  size_t InPiece();
  bool ReadVarintSlow(uint64_t& value);

  std::span<const Piece> pieces_;
  size_t piece_ = 0;   // index of the current piece
  size_t offset_ = 0;  // in the current piece
  size_t position_ = 0;
  size_t limit_ = 0;
};

}  // namespace reprise
