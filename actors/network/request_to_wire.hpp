// Converts requests of actors to a worker into messages to another process.
#pragma once
#include "troupe/serialization/wire/messages.hpp"

#include <caf/fwd.hpp>

#include <optional>

namespace troupe {

/// Returns the message, whose `request` number the caller sets; nothing if the element is not such
/// a request. A run_request is converted by to_run_step.hpp.
std::optional<message> request_to_wire(caf::mailbox_element& request);

} // namespace troupe
