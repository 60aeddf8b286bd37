// Keeps what a kernel still reads from what it writes over.
#pragma once
#include "troupe/runtime/graph/kernel.hpp"

#include <cstdint>

namespace troupe::ops {

/// The tensor, or a copy of it if it shares memory with what is to be changed, as a variable's
/// value does where updates do not lock: what is read later would be what was written before.
inline result<tensor> apart_from(kernel_context& at, const tensor& from, const tensor& changed) {
  auto begin = reinterpret_cast<uintptr_t>(from.raw());
  auto other = reinterpret_cast<uintptr_t>(changed.raw());
  if (begin < other + changed.bytes() && other < begin + from.bytes())
    return from.clone(at.memory());
  return from;
}

} // namespace troupe::ops
