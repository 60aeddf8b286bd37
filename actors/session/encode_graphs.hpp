// Writes what a task is to be registered with as a message to it.
#pragma once
#include "troupe/actors/base/messages.hpp"

namespace troupe {

/// Takes as long as writing the graphs: constants are copied.
result<wire_registration> encode_graphs(const register_partitions& what);

} // namespace troupe
