// Early return on a failed Status.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define REPRISE_RETURN_IF_ERROR(expr)                                   \
  do {                                                                  \
    if (absl::Status reprise_status_ = (expr); !reprise_status_.ok()) { \
      return reprise_status_;                                           \
    }                                                                   \
  } while (false)

#define REPRISE_CONCAT_INNER(a, b) a##b
#define REPRISE_CONCAT(a, b) REPRISE_CONCAT_INNER(a, b)

// REPRISE_ASSIGN_OR_RETURN(int n, ParseCount(text)); may not be the body of an
// `if` without braces. A type with a comma needs parentheses or an alias.
#define REPRISE_ASSIGN_OR_RETURN(lhs, expr)                                  \
  REPRISE_ASSIGN_OR_RETURN_IMPL(REPRISE_CONCAT(reprise_statusor_, __LINE__), \
                                lhs, expr)

#define REPRISE_ASSIGN_OR_RETURN_IMPL(statusor, lhs, expr) \
  auto statusor = (expr);                                  \
  if (!statusor.ok()) return std::move(statusor).status(); \
  lhs = *std::move(statusor)
