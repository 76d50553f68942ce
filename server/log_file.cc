#include "server/log_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/base/file_descriptor.h"

namespace reprise {

absl::Status SendStderrTo(const std::string& path) {
  FileDescriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!file.valid() || dup2(file.get(), STDERR_FILENO) < 0) {
    return absl::UnavailableError(absl::StrCat(
        "--log-file: cannot open '", path, "': ", std::strerror(errno)));
  }
  // Whoever started us with stderr closed has it opened here.
  if (file.get() == STDERR_FILENO) file.Release();
  return absl::OkStatus();
}

}  // namespace reprise
