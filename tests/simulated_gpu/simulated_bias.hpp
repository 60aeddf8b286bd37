// How a simulated GPU adds a bias.
#pragma once
#include "troupe/devices/gpu/core/add_bias.hpp"

namespace troupe::gpu {

/// At once, on the calling thread.
status add_bias_on_host(const biased_result& to, const epilogue& what);

} // namespace troupe::gpu
