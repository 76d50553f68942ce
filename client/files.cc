#include "client/files.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"

namespace reprise::client {
namespace {

struct Closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Closer>;

absl::Status ReadError(const std::string& path, const char* reason) {
  return absl::NotFoundError(absl::StrCat("cannot read ", path, ": ", reason));
}

absl::Status WriteError(const std::string& path) {
  return absl::FailedPreconditionError(
      absl::StrCat("cannot write ", path, ": ", std::strerror(errno)));
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  File file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) return ReadError(path, std::strerror(errno));
  struct stat info = {};
  if (fstat(fileno(file.get()), &info) == 0 && S_ISDIR(info.st_mode)) {
    return ReadError(path, "it is a directory");
  }
  std::string bytes;
  char buffer[1 << 16];
  for (;;) {
    const size_t n = std::fread(buffer, 1, sizeof(buffer), file.get());
    bytes.append(buffer, n);
    if (n < sizeof(buffer)) break;
  }
  if (std::ferror(file.get()) != 0)
    return ReadError(path, std::strerror(errno));
  return bytes;
}

absl::Status WriteFile(const std::string& path, absl::string_view bytes) {
  File file(std::fopen(path.c_str(), "wb"));
  if (file == nullptr) return WriteError(path);
  const bool written =
      std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  if (!written || std::fflush(file.get()) != 0) return WriteError(path);
  return absl::OkStatus();
}

}  // namespace reprise::client
