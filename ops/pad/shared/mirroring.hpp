// What MirrorPad and MirrorPadGrad share: what an element of the frame is a mirror image of.
#pragma once
#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/ops/pad/shared/padding.hpp"

#include <functional>
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

/// What MirrorPad makes of input 0 with the paddings in input 1.
struct mirrored_frames {
  int64_t offset;
  std::vector<frame> frames;
  shape dims; ///< of the output
};
inline result<mirrored_frames> plan_mirror_pad(const kernel_context& at, std::string_view mode) {
  const auto& x = at.input(0).dims();
  mirrored_frames plan;
  TROUPE_ASSIGN(plan.offset, mirror_offset(mode));
  TROUPE_ASSIGN(plan.frames, frames_of(at.input(1), x));
  TROUPE_TRY(check_mirrored(x, plan.frames, plan.offset));
  TROUPE_ASSIGN(plan.dims, padded(x, plan.frames));
  return plan;
}

/// Which element of the axis stands at this place of the padded one.
constexpr int64_t mirrored(int64_t place, int64_t extent, int64_t before, int64_t offset) {
  auto from = place - before;
  return from < 0 ? offset - 1 - from : from < extent ? from : 2 * extent - 1 - offset - from;
}

/// The sum of an element of an axis and of its images: element(place) is what stands there in the
/// padded one, which has `wide` places.
template <class Element>
constexpr auto with_images(const Element& element, int64_t i, int64_t extent, int64_t before,
                           int64_t wide, int64_t offset) {
  auto total = element(before + i);
  auto left = before + offset - 1 - i, right = before + 2 * extent - 1 - offset - i;
  if (left >= 0 && left < before)
    total = wrapping(std::plus<>{}, total, element(left));
  if (right >= before + extent && right < wide)
    total = wrapping(std::plus<>{}, total, element(right));
  return total;
}

/// What the frames of an axis leave, for all axes.
inline result<shape> unframed(const shape& dims, const std::vector<frame>& frames, int64_t offset) {
  auto inner = dims;
  for (size_t i = 0; i < frames.size(); ++i) {
    auto axis = static_cast<int>(i);
    auto left = dims[axis] - frames[i].before;
    if (left < frames[i].after)
      return invalid("axis ", axis, " of ", dims, " has no frame of ", frames[i].before, " and ",
                     frames[i].after);
    inner.set(axis, left - frames[i].after);
  }
  TROUPE_TRY(check_mirrored(inner, frames, offset));
  return inner;
}

} // namespace troupe::ops
