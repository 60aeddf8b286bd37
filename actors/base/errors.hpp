// The one place where errors of ours become CAF's and back.
#pragma once
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/types/status.hpp"

#include <caf/error.hpp>

namespace troupe {

/// Carries kind and text in a CAF error of category "troupe".
TROUPE_API caf::error to_caf(const status& what);

/// Reads it back; CAF's own errors get the kind that says what to do: a time-out is
/// deadline_exceeded, an actor that is gone is unavailable.
TROUPE_API status from_caf(const caf::error& what);

/// Whether a text names that task ("/job:ps/task:1"), and not only task 10.
bool names_task(std::string_view text, std::string_view task);

} // namespace troupe
