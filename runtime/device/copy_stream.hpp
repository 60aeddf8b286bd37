// The streams on which a device copies in parallel with its stream of launches.
#pragma once
#include <cstdint>

namespace troupe {

enum class copy_stream : uint8_t { to_host, to_device };

} // namespace troupe
