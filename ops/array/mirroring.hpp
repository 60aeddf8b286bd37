// What MirrorPad and MirrorPadGrad share: what an element of the frame is a mirror image of.
#pragma once
#include "troupe/ops/array/padding.hpp"

#include <string_view>

namespace troupe::ops {

/// How far the mirror stands behind the edge: 1 in mode REFLECT, which leaves the edge itself out.
inline result<int64_t> mirror_offset(std::string_view mode) {
  if (mode == "REFLECT")
    return 1;
  if (mode == "SYMMETRIC")
    return 0;
  return invalid("mode must be REFLECT or SYMMETRIC, got '", mode, "'");
}

/// Fails where the frame of an axis is wider than what it mirrors.
inline status check_mirrored(const shape& dims, const std::vector<frame>& frames, int64_t offset) {
  for (size_t i = 0; i < frames.size(); ++i)
    if (auto most = dims[static_cast<int>(i)] - offset;
        std::max(frames[i].before, frames[i].after) > std::max<int64_t>(most, 0))
      return invalid("axis ", i, " of ", dims, " has only ", std::max<int64_t>(most, 0),
                     " elements to mirror, paddings want ", frames[i].before, " and ",
                     frames[i].after);
  return {};
}

/// Which element of the axis stands at this place of the padded one.
inline int64_t mirrored(int64_t place, int64_t extent, int64_t before, int64_t offset) {
  auto from = place - before;
  return from < 0 ? offset - 1 - from : from < extent ? from : 2 * extent - 1 - offset - from;
}

} // namespace troupe::ops
