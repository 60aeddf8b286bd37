// Lists every op and kernel of the library; generated from the sources (cmake/list_ops.py).
#pragma once
#include "troupe/runtime/graph/kernel.hpp"
#include "troupe/runtime/graph/registry.hpp"

#include <span>

namespace troupe::ops {

std::span<const op_def* const> all_ops();
std::span<const kernel_def* const> all_kernels();

/// Adds all ops and kernels to a registry.
status add_all(registry& to);
/// Adds all ops, and the kernels of one kind of device.
status add_all(registry& to, device_kind kernels_of);

} // namespace troupe::ops
