// Converts between the library's errors and CAF's. No other file does.
#pragma once
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/types/status.hpp"

#include <caf/error.hpp>

namespace troupe {

/// Stores kind, text and origin in a CAF error of category "troupe".
TROUPE_API caf::error to_caf(const status& outcome);

/// Reverses to_caf(). CAF's own errors get the kind that says what to do next: a request timeout is
/// deadline_exceeded, an actor that has ended is unavailable.
TROUPE_API status from_caf(const caf::error& caf_error);

/// Returns whether the text of an error names that task: "/job:ps/task:1" does not occur in
/// "/job:ps/task:10".
bool mentions_task(std::string_view text, std::string_view task);

} // namespace troupe
