// Pad and PadV2: padding by zeros, or by a value.
#include "troupe/ops/pad/shared/padding.hpp"
#include "troupe/runtime/graph/op.hpp"

namespace troupe::ops::pad_op {
namespace {

edges pad_gradient(gradient_context& at) { return {cropped(at, at.output_gradient(0)), {}}; }

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(at.of_rank(2, 0));
  return infer_padding(at);
}

edge total(edge x) { return sum_over(reshaped(x, integers_like(x, {-1})), {0}); }

// The value's gradient is the part of the gradient that does not go to the tensor.
edges pad_v2_gradient(gradient_context& at) {
  auto dy = at.output_gradient(0), dx = cropped(at, dy);
  return {dx, {}, total(dy) - total(dx)};
}

} // namespace

extern constexpr op_def pad{
    .name = "Pad",
    .doc =
        "Puts paddings[i, 0] zeros before and paddings[i, 1] zeros behind the elements of axis i.",
    .inputs = {{"input", "T"}, on_host("paddings", "Tpaddings")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}, {"Tpaddings", index_types, dtype::i32}},
    .effects = effect::autocast_infer,
    .infer = infer_padding,
    .gradient = pad_gradient,
    .example = R"(
y = Pad(f32[[1, 2]], i32[[1, 0], [0, 2]])
fetch y = f32[[0, 0, 0, 0], [1, 2, 0, 0]]
)",
};

extern constexpr op_def pad_v2{
    .name = "PadV2",
    .doc = "Puts constant_values paddings[i, 0] times before and paddings[i, 1] times behind the "
           "elements of axis i.",
    .inputs = {{"input", "T"}, on_host("paddings", "Tpaddings"), {"constant_values", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}, {"Tpaddings", index_types, dtype::i32}},
    .effects = effect::autocast_infer,
    .infer = infer,
    .gradient = pad_v2_gradient,
    .example = R"(
y = PadV2(f32[[1, 2]], i32[[1, 0], [0, 2]], f32(7))
fetch y = f32[[7, 7, 7, 7], [1, 2, 7, 7]]
)",
};

} // namespace troupe::ops::pad_op
