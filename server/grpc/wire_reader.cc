#include "server/grpc/wire_reader.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace reprise {
namespace {

static_assert(std::endian::native == std::endian::little,
              "tensors are little-endian on the wire and used as they are");

constexpr int kMaxVarintBytes = 10;

}  // namespace

WireReader::WireReader(std::span<const Piece> pieces) : pieces_(pieces) {
  for (const Piece& piece : pieces) limit_ += piece.size();
}

WireReader WireReader::At(size_t position, size_t length) const {
  WireReader reader(pieces_);
  reader.Skip(position);
  reader.limit_ = position + length;
  return reader;
}

bool WireReader::Enter(size_t length, size_t& outer) {
  if (length > left()) return false;
  outer = limit_;
  limit_ = position_ + length;
  return true;
}

size_t WireReader::InPiece() {
  while (piece_ < pieces_.size() && offset_ == pieces_[piece_].size()) {
    ++piece_;
    offset_ = 0;
  }
  if (piece_ == pieces_.size()) return 0;
  return std::min(pieces_[piece_].size() - offset_, left());
}

bool WireReader::ReadVarint(uint64_t& value) {
  const size_t here = InPiece();
  if (here == 0) return false;
  const std::byte* const p = pieces_[piece_].data() + offset_;
  if (p[0] < std::byte{0x80}) {  // nearly all
    ++offset_;
    ++position_;
    value = std::to_integer<uint64_t>(p[0]);
    return true;
  }
  if (here < kMaxVarintBytes) return ReadVarintSlow(value);
  uint64_t result = 0;
  for (int i = 0; i < kMaxVarintBytes; ++i) {
    const auto byte = std::to_integer<uint64_t>(p[i]);
    result |= (byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      offset_ += static_cast<size_t>(i) + 1;
      position_ += static_cast<size_t>(i) + 1;
      value = result;
      return true;
    }
  }
  return false;
}

bool WireReader::ReadVarintSlow(uint64_t& value) {
  uint64_t result = 0;
  for (int i = 0; i < kMaxVarintBytes; ++i) {
    uint8_t byte = 0;
    if (!ReadRaw(&byte, 1)) return false;
    result |= (uint64_t{byte} & 0x7f) << (7 * i);
    if (byte < 0x80) {
      value = result;
      return true;
    }
  }
  return false;
}

bool WireReader::ReadTag(uint32_t& field, WireType& type) {
  uint64_t tag = 0;
  if (!ReadVarint(tag) || tag > UINT32_MAX || (tag & 7) > 5) return false;
  field = static_cast<uint32_t>(tag >> 3);
  type = static_cast<WireType>(tag & 7);
  return field != 0;
}

bool WireReader::ReadFixed32(uint32_t& value) {
  return ReadRaw(&value, sizeof(value));
}

bool WireReader::ReadFixed64(uint64_t& value) {
  return ReadRaw(&value, sizeof(value));
}

bool WireReader::ReadLength(size_t& length) {
  uint64_t value = 0;
  if (!ReadVarint(value) || value > left()) return false;
  length = value;
  return true;
}

bool WireReader::ReadText(std::forward_list<std::string>& scratch,
                          absl::string_view& text) {
  size_t length = 0;
  return ReadLength(length) && ReadTextOf(length, scratch, text);
}

bool WireReader::ReadTextOf(size_t length,
                            std::forward_list<std::string>& scratch,
                            absl::string_view& text) {
  if (length > left()) return false;
  if (length == 0) {
    text = absl::string_view();
    return true;
  }
  if (InPiece() >= length) {
    const std::byte* const p = pieces_[piece_].data() + offset_;
    text = {reinterpret_cast<const char*>(p), length};
    return Skip(length);
  }
  std::string copy(length, '\0');
  if (!ReadRaw(copy.data(), length)) return false;
  text = scratch.emplace_front(std::move(copy));
  return true;
}

bool WireReader::ReadPieces(InputRows& rows) {
  size_t length = 0;
  if (!ReadLength(length)) return false;
  rows.pieces.clear();
  rows.bytes = static_cast<int64_t>(length);
  while (length > 0) {
    const size_t here = std::min(InPiece(), length);
    if (here == 0) return false;
    rows.pieces.push_back(pieces_[piece_].subspan(offset_, here));
    Skip(here);
    length -= here;
  }
  return true;
}

bool WireReader::ReadRaw(void* to, size_t bytes) {
  if (bytes > left()) return false;
  auto* out = static_cast<std::byte*>(to);
  while (bytes > 0) {
    const size_t here = std::min(InPiece(), bytes);
    if (here == 0) return false;
    std::memcpy(out, pieces_[piece_].data() + offset_, here);
    out += here;
    bytes -= here;
    offset_ += here;
    position_ += here;
  }
  return true;
}

bool WireReader::Skip(size_t bytes) {
  if (bytes > left()) return false;
  while (bytes > 0) {
    const size_t here = std::min(InPiece(), bytes);
    if (here == 0) return false;
    bytes -= here;
    offset_ += here;
    position_ += here;
  }
  return true;
}

bool WireReader::SkipValue(WireType type) {
  uint64_t value = 0;
  size_t length = 0;
  switch (type) {
    case WireType::kVarint:
      return ReadVarint(value);
    case WireType::kFixed64:
      return Skip(8);
    case WireType::kFixed32:
      return Skip(4);
    case WireType::kLength:
      return ReadLength(length) && Skip(length);
    case WireType::kGroupStart:
    case WireType::kGroupEnd:
      return false;
  }
  return false;
}

}  // namespace reprise
