// Copying of a tensor's blocks to other positions, for GPU kernels.
#pragma once
#include "troupe/ops/kernel/gpu/device_indices.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

template <class T, class Place>
struct take_body {
  Place place;
  divisor by_length;
  int64_t length;
  const T* from;
  T* to;

  TROUPE_DEVICE void operator()(int64_t i) const {
    auto [block, offset] = by_length(i);
    auto source = place(block);
    to[i] = source < 0 ? T{} : from[source * length + offset];
  }
};

/// Fills `to` with blocks of `length` contiguous elements: block i is block place(i) of `from`, or
/// zeros where that is negative.
template <class Place>
status take_blocks(kernel_context& at, const tensor& from, int64_t length, const tensor& to,
                   Place place) {
  if (to.elements() == 0)
    return {};
  auto bytes = length * static_cast<int64_t>(size_of(to.type()));
  return with_row_unit(bytes, {from.raw(), to.raw()}, [&](auto unit, int64_t units) {
    using T = typename decltype(unit)::type;
    auto unit_count = to.elements() / length * units;
    return for_each(at, unit_count,
                    take_body<T, Place>{place,
                                        {units, unit_count},
                                        units,
                                        static_cast<const T*>(from.raw()),
                                        static_cast<T*>(to.raw())});
  });
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
