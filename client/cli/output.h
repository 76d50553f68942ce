// Standard output that remembers why a write failed.
#pragma once

#include <streambuf>
#include <string>

#include "absl/status/status.h"

namespace reprise::client {

// The buffer of a stream that writes to a file descriptor, which must outlive
// it. What is written after a failure is dropped. Nothing is written by the
// destructor: Finish says whether all of it could be.
class Output final : public std::streambuf {
 public:
  explicit Output(int fd) : fd_(fd) {}

  // Writes what is left. The reason of the first write that failed, such as
  // "No space left on device".
  absl::Status Finish();

 protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  // Writes the buffer; false once a write has failed.
  bool Write();

  const int fd_;  // not owned
  std::string buffer_;
  int error_ = 0;  // errno of the first failure
};

}  // namespace reprise::client
