// The exception that every function of the public interface throws.
#pragma once
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/types/status.hpp"

#include <memory>
#include <stdexcept>

namespace troupe {

/// An error of the public interface. kind() implies what a caller can do next. `what()` names the
/// node, the source line that built it, and what was expected.
class TROUPE_API error : public std::runtime_error {
public:
  explicit error(const status& reason)
      : std::runtime_error(reason.message()), kind_(reason.kind()),
        origin_(std::make_shared<error_origin>(reason.origin())) {}
  error(error_kind kind, const std::string& message) : error(status{kind, message}) {}

  error_kind kind() const noexcept { return kind_; }
  /// The node that failed, its op, and the task on which it failed, "/job:worker/task:1". A string
  /// is empty if it is not known or the error has no such subject.
  const std::string& node() const noexcept { return origin_->node; }
  const std::string& op() const noexcept { return origin_->op; }
  const std::string& task() const noexcept { return origin_->task; }

private:
  error_kind kind_;
  std::shared_ptr<const error_origin> origin_; // shared, so that copying an exception cannot fail
};

/// Returns the value, or throws the error that the result holds.
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
