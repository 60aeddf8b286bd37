// The HTTP port for operators of the task of a local session.
#pragma once
#include "troupe/actors/session/client.hpp"

namespace troupe {

/// For client_options::open_port. Does not ask other tasks.
result<opened_port> open_local_port(const address& listen_address, const local_task_parts& local);

} // namespace troupe
