// Writes the registration of a step's part as a message to its task.
#pragma once
#include "troupe/actors/base/messages.hpp"

namespace troupe {

/// The message has copies of the graphs' constants.
result<wire_registration> encode_graphs(const register_partitions& registration);

} // namespace troupe
