// The exception that every function of the public interface throws.
#pragma once
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/types/status.hpp"

#include <memory>
#include <stdexcept>

namespace troupe {

/// Says what failed, where, and through its kind what to do next. `what()` names the node, the line
/// that built it, and what was expected.
class TROUPE_API error : public std::runtime_error {
public:
  explicit error(const status& why)
      : std::runtime_error(why.message()), kind_(why.kind()),
        origin_(std::make_shared<error_origin>(why.origin())) {}
  error(error_kind kind, const std::string& message) : error(status{kind, message}) {}

  error_kind kind() const noexcept { return kind_; }
  /// The node that failed, its op, and the task on which it did, "/job:worker/task:1"; each is
  /// empty where it is not known, or where the error is about none.
  const std::string& node() const noexcept { return origin_->node; }
  const std::string& op() const noexcept { return origin_->op; }
  const std::string& task() const noexcept { return origin_->task; }

private:
  error_kind kind_;
  std::shared_ptr<const error_origin> origin_; // exceptions are copied without failing
};

/// Returns the value, or throws the error that took its place.
template <class T>
T value_or_throw(result<T> outcome) {
  if (!outcome)
    throw error{outcome.status()};
  return *std::move(outcome);
}

inline void throw_if_failed(const status& outcome) {
  if (!outcome)
    throw error{outcome};
}

} // namespace troupe
