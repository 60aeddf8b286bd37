// Writes docs/ops.md, the reference of all ops.
#pragma once
#include "troupe/runtime/graph/registry.hpp"

#include <span>
#include <string>
#include <string_view>

namespace troupe::generate {

/// The devices that have kernels for an op: "cpu, gpu".
struct op_devices {
  std::string_view op, devices;
};

/// Of all ops with kernels, whether this build has them or not; written by cmake/list_ops.py.
std::span<const op_devices> devices_of_ops();

std::string reference(const registry& ops);

} // namespace troupe::generate
