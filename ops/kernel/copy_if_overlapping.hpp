// Protects the data that a kernel still reads from the kernel's own writes.
#pragma once
#include "troupe/runtime/graph/kernel.hpp"

#include <cstdint>

namespace troupe::ops {

/// Returns the tensor, or a copy of it if it overlaps the tensor to be changed. A variable's value
/// does so where updates do not lock; without the copy, later reads would see earlier writes.
inline result<tensor> copy_if_overlapping(kernel_context& at, const tensor& from,
                                          const tensor& changed) {
  auto begin = reinterpret_cast<uintptr_t>(from.raw());
  auto changed_address = reinterpret_cast<uintptr_t>(changed.raw());
  if (begin < changed_address + changed.bytes() && changed_address < begin + from.bytes())
    return from.clone(at.memory());
  return from;
}

} // namespace troupe::ops
