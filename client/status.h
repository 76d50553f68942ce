// The client's errors: absl::Status everywhere, and the one place where
// grpc::Status becomes one.
#pragma once

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "grpcpp/support/status.h"

namespace reprise::client {

// The same code and message, marked as an answer of the RPC layer. The mark
// tells a server's INVALID_ARGUMENT from one that this program raised itself.
absl::Status FromGrpc(const grpc::Status& status);

// Whether `status` came from FromGrpc.
bool IsRpcError(const absl::Status& status);

// `status` with "where: " put in front of its message; code and mark stay.
absl::Status Annotate(const absl::Status& status, absl::string_view where);

}  // namespace reprise::client

#define CLIENT_RETURN_IF_ERROR(expr)                                  \
  do {                                                                \
    if (absl::Status client_status_ = (expr); !client_status_.ok()) { \
      return client_status_;                                          \
    }                                                                 \
  } while (false)

#define CLIENT_CONCAT_INNER(a, b) a##b
#define CLIENT_CONCAT(a, b) CLIENT_CONCAT_INNER(a, b)

// CLIENT_ASSIGN_OR_RETURN(int n, ParseCount(text)); never the body of an `if`
// without braces. A type with a comma needs parentheses or an alias.
#define CLIENT_ASSIGN_OR_RETURN(lhs, expr) \
  CLIENT_ASSIGN_OR_RETURN_IMPL(CLIENT_CONCAT(client_or_, __LINE__), lhs, expr)

#define CLIENT_ASSIGN_OR_RETURN_IMPL(statusor, lhs, expr)  \
  auto statusor = (expr);                                  \
  if (!statusor.ok()) return std::move(statusor).status(); \
  lhs = *std::move(statusor)
