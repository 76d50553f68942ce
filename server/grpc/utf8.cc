#include "server/grpc/utf8.h"

#include <cstdint>

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

}  // namespace

bool IsUtf8(absl::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const uint8_t lead = ByteAt(text, i);
    const size_t length = SequenceLength(lead);
    if (length == 0 || length > text.size() - i) return false;
    for (size_t k = 1; k < length; ++k) {
      if (!Continues(ByteAt(text, i + k))) return false;
    }
    if (length > 2) {
      const uint8_t next = ByteAt(text, i + 1);
      if ((lead == 0xe0 && next < 0xa0) || (lead == 0xed && next > 0x9f) ||
          (lead == 0xf0 && next < 0x90) || (lead == 0xf4 && next > 0x8f)) {
        return false;
      }
    }
    i += length;
  }
  return true;
}

size_t CharacterStart(absl::string_view text, size_t at) {
  while (at > 0 && Continues(ByteAt(text, at))) --at;
  return at;
}

}  // namespace reprise
