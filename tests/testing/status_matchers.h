// Matchers for absl::Status and absl::StatusOr; Debian 12's Abseil has none.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reprise::testing {

// What is asserted most.
inline constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;

inline const absl::Status& GetStatus(const absl::Status& status) {
  return status;
}
template <typename T>
const absl::Status& GetStatus(const absl::StatusOr<T>& status_or) {
  return status_or.status();
}

// One class for every type and message: what a test compiles most often.
class StatusMatcher {
 public:
  using is_gtest_matcher = void;
  using Message = ::testing::Matcher<const std::string&>;

  explicit StatusMatcher(absl::StatusCode code,
                         std::optional<Message> message = std::nullopt)
      : code_(code), message_(std::move(message)) {}

  template <typename T>
  bool MatchAndExplain(const T& value,
                       ::testing::MatchResultListener* listener) const {
    return Matches(GetStatus(value), listener);
  }
  void DescribeTo(std::ostream* out) const { Describe("has", *out); }
  void DescribeNegationTo(std::ostream* out) const {
    Describe("has not", *out);
  }

 private:
  bool Matches(const absl::Status& status,
               ::testing::MatchResultListener* listener) const {
    *listener << status.ToString();
    return status.code() == code_ &&
           (!message_.has_value() ||
            message_->MatchAndExplain(std::string(status.message()), listener));
  }
  void Describe(const char* has, std::ostream& out) const {
    out << has << " code " << absl::StatusCodeToString(code_);
    if (!message_.has_value()) return;
    out << " and a message that ";
    message_->DescribeTo(&out);
  }

  absl::StatusCode code_;
  std::optional<Message> message_;
};

inline StatusMatcher IsOk() { return StatusMatcher(absl::StatusCode::kOk); }
inline StatusMatcher StatusIs(absl::StatusCode code) {
  return StatusMatcher(code);
}
// `message` matches a std::string.
template <typename M>
StatusMatcher StatusIs(absl::StatusCode code, const M& message) {
  return StatusMatcher(code,
                       ::testing::SafeMatcherCast<const std::string&>(message));
}

MATCHER_P(IsOkAndHolds, inner, "is OK and holds the value") {
  if (!arg.ok()) {
    *result_listener << arg.status().ToString();
    return false;
  }
  return ::testing::ExplainMatchResult(inner, *arg, result_listener);
}

}  // namespace reprise::testing
