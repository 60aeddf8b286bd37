// Pad: a tensor in a frame of zeros.
#include "troupe/ops/pad/shared/padding.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::pad_op {
namespace {

edges gradient(gradient_context& at) { return {cropped(at, at.output_gradient(0)), {}}; }

} // namespace

extern constexpr op_def pad{
    .name = "Pad",
    .doc =
        "Puts paddings[i, 0] zeros before and paddings[i, 1] zeros behind the elements of axis i.",
    .inputs = {{"input", "T"}, on_host("paddings", "Tpaddings")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}, {"Tpaddings", index_types, dtype::i32}},
    .effects = autocast_infer,
    .infer = infer_padding,
    .gradient = gradient,
    .example = R"(
y = Pad(f32[[1, 2]], i32[[1, 0], [0, 2]])
fetch y = f32[[0, 0, 0, 0], [1, 2, 0, 0]]
)",
};

} // namespace troupe::ops::pad_op
