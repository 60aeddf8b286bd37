// The copies that a device makes beside its line of launches.
#pragma once
#include <cstdint>

namespace troupe {

enum class copy_stream : uint8_t { to_host, to_device };

} // namespace troupe
