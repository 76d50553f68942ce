// A client of the metrics port.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "gtest/gtest.h"

namespace reprise::testing {

// A connection, of which nothing has been asked; the caller's to close.
inline int Connect(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  sockaddr generic;
  static_assert(sizeof(generic) == sizeof(address));
  std::memcpy(&generic, &address, sizeof(address));
  EXPECT_EQ(connect(fd, &generic, sizeof(generic)), 0);
  return fd;
}

// The whole answer to one request line.
inline std::string Ask(int port, const std::string& line) {
  const int fd = Connect(port);
  const std::string request = line + " HTTP/1.1\r\nHost: x\r\n\r\n";
  EXPECT_EQ(write(fd, request.data(), request.size()),
            static_cast<ssize_t>(request.size()));
  std::string answer;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(fd, buffer, sizeof(buffer))) > 0;) {
    answer.append(buffer, static_cast<size_t>(n));
  }
  close(fd);
  return answer;
}

}  // namespace reprise::testing
