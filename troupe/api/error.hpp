// The exception that every function of the public interface throws.
#pragma once
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/types/status.hpp"

#include <stdexcept>

namespace troupe {

/// Says what failed, where, and through its kind what to do next. `what()` names the node, the line
/// that built it, and what was expected.
class TROUPE_API error : public std::runtime_error {
public:
  explicit error(const status& why) : std::runtime_error(why.message()), kind_(why.kind()) {}
  error(error_kind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}

  error_kind kind() const noexcept { return kind_; }

private:
  error_kind kind_;
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
