// The port at which operators ask about the task of a local session.
#pragma once
#include "troupe/actors/session/client.hpp"

namespace troupe {

/// For client_options::open_port. No other task is asked.
result<opened_port> open_local_port(const address& at, const local_task_parts& of);

} // namespace troupe
