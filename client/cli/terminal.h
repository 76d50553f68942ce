// What a command sees of the world outside: two streams and the environment.
#pragma once

#include <functional>
#include <ostream>
#include <string>

namespace reprise::client {

struct Terminal {
  std::ostream& out;
  std::ostream& err;
  bool err_is_tty = false;  // whether a progress line may be redrawn
  // An environment variable; "" if it is not set.
  std::function<std::string(const std::string&)> env;
  // Whether the user asked to stop (Ctrl-C).
  std::function<bool()> interrupted;
};

// What a command's process exits with; scripts rely on the numbers.
enum class ExitCode {
  kOk = 0,
  kUsage = 1,        // a wrong flag, argument or local file, a failed write
  kUnreachable = 2,  // no connection, or the server said UNAVAILABLE
  kRpcError = 3,     // the server answered with any other error
  kNotServing = 4,   // health: it answers, and does not serve
};

}  // namespace reprise::client
