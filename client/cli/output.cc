#include "client/cli/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace reprise::client {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 16;

}  // namespace

bool Output::Write() {
  size_t done = 0;
  while (error_ == 0 && done < buffer_.size()) {
    const ssize_t n = write(fd_, buffer_.data() + done, buffer_.size() - done);
    if (n >= 0) {
      done += static_cast<size_t>(n);
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  buffer_.clear();
  return error_ == 0;
}

Output::int_type Output::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return 0;
  const char text = traits_type::to_char_type(c);
  return xsputn(&text, 1) == 1 ? c : traits_type::eof();
}

std::streamsize Output::xsputn(const char* text, std::streamsize size) {
  buffer_.append(text, static_cast<size_t>(size));
  if (buffer_.size() >= kBufferBytes && !Write()) return 0;
  return size;
}

int Output::sync() { return Write() ? 0 : -1; }

absl::Status Output::Finish() {
  if (Write()) return absl::OkStatus();
  return absl::FailedPreconditionError(std::strerror(error_));
}

}  // namespace reprise::client
