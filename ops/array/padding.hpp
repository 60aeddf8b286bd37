// The extent of a padded axis: what the shape function and the kernel of Pad share.
#pragma once
#include "troupe/runtime/status.hpp"

namespace troupe::ops {

inline result<int64_t> padded(int64_t extent, int64_t before, int64_t after) {
  if (before < 0 || after < 0)
    return invalid("paddings must not be negative, got ", before, " and ", after);
  int64_t sum = 0;
  if (__builtin_add_overflow(before, after, &sum) || __builtin_add_overflow(sum, extent, &sum))
    return invalid("paddings of ", before, " and ", after, " are too much");
  return sum;
}

} // namespace troupe::ops
