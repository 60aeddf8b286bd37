// Ops that resize images [batch, height, width, channels].
#pragma once
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

inline status check_centers(const infer_context& at) {
  if (at.attr<bool>("align_corners") && at.attr<bool>("half_pixel_centers"))
    return at.invalid("align_corners and half_pixel_centers exclude each other");
  return {};
}

/// The shape of input 0 with the height and width that input `i` lists, as far as it is known.
inline result<shapes> infer_sized(const infer_context& at, int i) {
  TROUPE_ASSIGN(auto dims, at.of_rank(0, 4));
  TROUPE_TRY(at.of_rank(i, 1));
  auto size = at.integers(i);
  for (size_t axis = 0; axis < 2; ++axis) {
    dims.set(static_cast<int>(axis) + 1, unknown_extent);
    if (!size)
      continue;
    if (size->size() != 2 || (*size)[axis] <= 0)
      return at.invalid("size must list a positive height and width");
    dims.set(static_cast<int>(axis) + 1, (*size)[axis]);
  }
  return shapes{dims};
}

inline result<shapes> infer_resize(const infer_context& at) {
  TROUPE_TRY(check_centers(at));
  return infer_sized(at, 1);
}

/// For gradients: input 0 comes from the resized images, input 1 is the original.
inline result<shapes> infer_resize_gradient(const infer_context& at) {
  TROUPE_TRY(check_centers(at));
  TROUPE_ASSIGN(auto grads, at.of_rank(0, 4));
  TROUPE_ASSIGN(auto dims, at.of_rank(1, 4));
  for (int axis : {0, 3})
    if (dims[axis] == unknown_extent)
      dims.set(axis, grads[axis]);
  return shapes{dims};
}

inline constexpr auto resizable =
    one_of(dtype::i8, dtype::u8, dtype::i16, dtype::u16, dtype::i32, dtype::i64) | floating;

/// Completes the form of an op that interpolates between pixels: its output is f32.
constexpr op_def interpolating(op_def def) {
  def.inputs = {{"images", "T"}, on_host("size", "i32")};
  def.outputs = {{"resized_images", "f32"}};
  def.attrs = {{"T", resizable}, {"align_corners", false}, {"half_pixel_centers", false}};
  def.infer = infer_resize;
  return def;
}

/// The gradient in terms of that op.
inline edges resize_gradient(gradient_context& at, const char* op) {
  if (!floating.contains(at.input(0).type()))
    return {{}, {}};
  return {build(op, {at.output_gradient(0), at.input(0)},
                {{"align_corners", at.attr<bool>("align_corners")},
                 {"half_pixel_centers", at.attr<bool>("half_pixel_centers")}}),
          {}};
}

} // namespace troupe::ops
