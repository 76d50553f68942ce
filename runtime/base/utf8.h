// UTF-8, as far as texts on the wire and in the log need it.
#pragma once

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace reprise {

// Whether all of `text` is well-formed: no overlong forms, no surrogates,
// nothing above U+10FFFF.
bool IsUtf8(absl::string_view text);

// `text`, with each byte that is part of no well-formed character shown as
// \xNN. What files and callers bring into a message goes through this: one
// byte that is not UTF-8 would make a whole reply unreadable.
std::string ToUtf8(absl::string_view text);

// The longest character.
inline constexpr size_t kMaxUtf8Bytes = 4;

// The place at or before `at` where a character begins; `at` < text.size().
// Cutting there leaves no half of a character to a client that decodes.
size_t CharacterStart(absl::string_view text, size_t at);

}  // namespace reprise
