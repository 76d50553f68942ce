// UTF-8, as far as texts on the wire need it.
#pragma once

#include <cstddef>

#include "absl/strings/string_view.h"

namespace reprise {

// Whether all of `text` is well-formed: no overlong forms, no surrogates,
// nothing above U+10FFFF.
bool IsUtf8(absl::string_view text);

// The longest character.
inline constexpr size_t kMaxUtf8Bytes = 4;

// The place at or before `at` where a character begins; `at` < text.size().
// Cutting there leaves no half of a character to a client that decodes.
size_t CharacterStart(absl::string_view text, size_t at);

}  // namespace reprise
