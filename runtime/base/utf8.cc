#include "runtime/base/utf8.h"

#include <cstdint>

#include "absl/strings/str_format.h"

namespace reprise {
namespace {

uint8_t ByteAt(absl::string_view text, size_t i) {
  return static_cast<uint8_t>(text[i]);
}

bool Continues(uint8_t byte) { return (byte & 0xc0) == 0x80; }

// Bytes of the sequence that `lead` begins; 0 if nothing valid begins so.
size_t SequenceLength(uint8_t lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  if (lead >= 0xf0 && lead < 0xf5) return 4;
  return 0;
}

// Bytes of the well-formed character at the start of `text`, which is not
// empty; 0 if there is none.
size_t CharacterLength(absl::string_view text) {
  const uint8_t lead = ByteAt(text, 0);
  const size_t length = SequenceLength(lead);
  if (length == 0 || length > text.size()) return 0;
  for (size_t k = 1; k < length; ++k) {
    if (!Continues(ByteAt(text, k))) return 0;
  }
  if (length > 2) {
    const uint8_t next = ByteAt(text, 1);
    if ((lead == 0xe0 && next < 0xa0) || (lead == 0xed && next > 0x9f) ||
        (lead == 0xf0 && next < 0x90) || (lead == 0xf4 && next > 0x8f)) {
      return 0;
    }
  }
  return length;
}

}  // namespace

bool IsUtf8(absl::string_view text) {
  while (!text.empty()) {
    const size_t length = CharacterLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string ToUtf8(absl::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = CharacterLength(text);
    if (length == 0) {
      absl::StrAppendFormat(&out, "\\x%02x", ByteAt(text, 0));
      text.remove_prefix(1);
    } else {
      out.append(text.data(), length);
      text.remove_prefix(length);
    }
  }
  return out;
}

size_t CharacterStart(absl::string_view text, size_t at) {
  while (at > 0 && Continues(ByteAt(text, at))) --at;
  return at;
}

}  // namespace reprise
