// The HTTP port for operators of the task of a local session.
#pragma once
#include "troupe/actors/session/client.hpp"

namespace troupe {

/// Opens the port, for client_options::open_port. It inspects the local task only, and asks no
/// other task. Fails if the address cannot be listened at.
result<opened_port> open_local_port(const address& listen_address, const local_task_parts& local);

} // namespace troupe
