// Padding by reflections, and the gradient.
#include "troupe/ops/pad/shared/mirroring.hpp"
#include "troupe/runtime/graph/op.hpp"

namespace troupe::ops::mirror_pad_op {
namespace {

result<shapes> infer_mirror_pad(const infer_context& at) {
  TROUPE_TRY(mirror_offset(at.attr<std::string>("mode")));
  return infer_padding(at);
}

edges mirror_pad_gradient(gradient_context& at) {
  auto dx = build("MirrorPadGrad", {at.output_gradient(0), at.input(1)},
                  {{"mode", at.attr<std::string>("mode")}});
  return {dx, {}};
}

result<shapes> infer_mirror_pad_grad(const infer_context& at) {
  TROUPE_TRY(mirror_offset(at.attr<std::string>("mode")));
  return infer_cropping(at);
}

edges mirror_pad_grad_gradient(gradient_context& at) {
  auto dx = build("MirrorPad", {at.output_gradient(0), at.input(1)},
                  {{"mode", at.attr<std::string>("mode")}});
  return {dx, {}};
}

} // namespace

extern constexpr op_def mirror_pad{
    .name = "MirrorPad",
    .doc = "Puts paddings[i, 0] mirrored elements before and paddings[i, 1] behind those of axis "
           "i.\n\nIn mode SYMMETRIC the mirrors stand outside of the first and last element, in "
           "mode REFLECT on them, so that these do not appear twice.",
    .inputs = {{"input", "T"}, on_host("paddings", "Tpaddings")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}, {"Tpaddings", index_types, dtype::i32}, {"mode", attr_kind::text}},
    .effects = effect::autocast_infer,
    .infer = infer_mirror_pad,
    .gradient = mirror_pad_gradient,
    .example = R"(
x = f32[[1, 2, 3], [4, 5, 6]]
y = MirrorPad(x, i32[[1, 0], [0, 2]]) mode="REFLECT"
z = MirrorPad(x, i32[[0, 0], [1, 2]]) mode="SYMMETRIC"
fetch y = f32[[4, 5, 6, 5, 4], [1, 2, 3, 2, 1], [4, 5, 6, 5, 4]]
fetch z = f32[[1, 1, 2, 3, 3, 2], [4, 4, 5, 6, 6, 5]]
)",
};

extern constexpr op_def mirror_pad_grad{
    .name = "MirrorPadGrad",
    .doc = "Adds the elements of the frame that MirrorPad makes to those that they are images of, "
           "and drops the frame.",
    .inputs = {{"input", "T"}, on_host("paddings", "Tpaddings")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", numbers}, {"Tpaddings", index_types, dtype::i32}, {"mode", attr_kind::text}},
    .infer = infer_mirror_pad_grad,
    .gradient = mirror_pad_grad_gradient,
    .example = R"(
y = MirrorPadGrad(f32[[1, 2, 3, 4], [5, 6, 7, 8]], i32[[0, 0], [1, 1]]) mode="SYMMETRIC"
fetch y = f32[[3, 7], [11, 15]]
)",
};

} // namespace troupe::ops::mirror_pad_op
