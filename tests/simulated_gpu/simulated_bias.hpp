// How a simulated GPU adds a bias.
#pragma once
#include "troupe/devices/gpu/core/add_bias.hpp"

namespace troupe::gpu {

/// Adds it at once, on the calling thread.
status add_bias_on_host(const biased_result& to, const epilogue& bias_options);

} // namespace troupe::gpu
