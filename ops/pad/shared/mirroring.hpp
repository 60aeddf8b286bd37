// Shared by MirrorPad and MirrorPadGrad: the source element of each padding element.
#pragma once
#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/ops/pad/shared/padding.hpp"

#include <functional>
#include <string_view>

namespace troupe::ops {

/// The distance of the mirror from the edge: 1 in mode REFLECT, which excludes the edge itself.
inline result<int64_t> mirror_offset(std::string_view mode) {
  if (mode == "REFLECT")
    return 1;
  if (mode == "SYMMETRIC")
    return 0;
  return invalid("mode must be REFLECT or SYMMETRIC, got '", mode, "'");
}

/// Fails where the padding of an axis is wider than its source.
inline status check_mirrored(const shape& dims, const std::vector<frame>& frames, int64_t offset) {
  for (size_t i = 0; i < frames.size(); ++i)
    if (auto max_padding = dims[static_cast<int>(i)] - offset;
        std::max(frames[i].before, frames[i].after) > std::max<int64_t>(max_padding, 0))
      return invalid("axis ", i, " of ", dims, " has only ", std::max<int64_t>(max_padding, 0),
                     " elements to mirror, paddings want ", frames[i].before, " and ",
                     frames[i].after);
  return {};
}

/// The output of MirrorPad for input 0 with the paddings in input 1.
struct mirrored_frames {
  int64_t offset;
  std::vector<frame> frames;
  shape dims; ///< the output's shape
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

/// The source element of a position of the padded axis.
constexpr int64_t mirrored(int64_t place, int64_t extent, int64_t before, int64_t offset) {
  auto from = place - before;
  return from < 0 ? offset - 1 - from : from < extent ? from : 2 * extent - 1 - offset - from;
}

/// The sum over an element of an axis and its images. element(place) is the value at a position of
/// the padded axis, which has `wide` positions.
template <class Element>
constexpr auto with_images(const Element& element, int64_t i, int64_t extent, int64_t before,
                           int64_t wide, int64_t offset) {
  auto total = element(before + i);
  auto left_image = before + offset - 1 - i, right_image = before + 2 * extent - 1 - offset - i;
  if (left_image >= 0 && left_image < before)
    total = wrapping(std::plus<>{}, total, element(left_image));
  if (right_image >= before + extent && right_image < wide)
    total = wrapping(std::plus<>{}, total, element(right_image));
  return total;
}

/// The remaining range of every axis without its padding.
inline result<shape> unframed(const shape& dims, const std::vector<frame>& frames, int64_t offset) {
  auto inner = dims;
  for (size_t i = 0; i < frames.size(); ++i) {
    auto axis = static_cast<int>(i);
    auto remaining = dims[axis] - frames[i].before;
    if (remaining < frames[i].after)
      return invalid("axis ", axis, " of ", dims, " has no frame of ", frames[i].before, " and ",
                     frames[i].after);
    inner.set(axis, remaining - frames[i].after);
  }
  TROUPE_TRY(check_mirrored(inner, frames, offset));
  return inner;
}

} // namespace troupe::ops
