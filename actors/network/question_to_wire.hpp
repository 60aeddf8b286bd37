// What actors ask of a worker, as another process is asked it.
#pragma once
#include "troupe/serialization/wire/messages.hpp"

#include <caf/fwd.hpp>

#include <optional>

namespace troupe {

/// Without the number of the request. Nothing for what is no such question; run_request is one of
/// its own (run_to_wire.hpp).
std::optional<message> question_to_wire(caf::mailbox_element& what);

} // namespace troupe
