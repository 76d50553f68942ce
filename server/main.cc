// reprised
#include <cstddef>
#include <span>

#include "server/daemon.h"

int main(int argc, char** argv) {
  return reprise::RunDaemon(
      std::span<const char* const>(argv, static_cast<size_t>(argc)).subspan(1));
}
