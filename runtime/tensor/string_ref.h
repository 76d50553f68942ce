// The in-memory element of a BYTES tensor.
#pragma once

#include <cstddef>

namespace reprise {

// Borrows the bytes of one string: those of the request that brought it, or of
// the model that holds it as a constant. Operators that only pass strings
// through copy these 16 bytes, never the text.
struct StringRef {
  const char* data;
  size_t size;
};

}  // namespace reprise
