#include "server/log_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace reprise {

absl::Status SendStderrTo(const std::string& path) {
  const int fd =
      open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0 || dup2(fd, STDERR_FILENO) < 0) {
    const std::string why = std::strerror(errno);
    if (fd >= 0) close(fd);
    return absl::UnavailableError(
        absl::StrCat("--log-file: cannot open '", path, "': ", why));
  }
  if (fd != STDERR_FILENO) close(fd);
  return absl::OkStatus();
}

}  // namespace reprise
