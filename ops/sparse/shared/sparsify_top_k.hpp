// Shared by the kernels of SparsifyTopK.
#pragma once
#include "troupe/runtime/graph/kernel.hpp"

#include <limits>

namespace troupe::ops {

/// The number of elements to extract, the kernel's last input.
inline result<int64_t> sent_count(const kernel_context& at) {
  const auto &gradient = at.input(1), &k = at.input(2);
  if (k.elements() != 1)
    return invalid("k must be a scalar, got shape ", k.dims());
  auto count = *k.data<int64_t>();
  if (count < 0 || count > gradient.elements())
    return invalid("k must be from 0 to the number of elements of the gradient, ",
                   gradient.elements(), ", got ", count);
  if (gradient.elements() > std::numeric_limits<int32_t>::max())
    return invalid("a gradient of ", gradient.elements(),
                   " elements is too large to count them in i32");
  return count;
}

} // namespace troupe::ops
