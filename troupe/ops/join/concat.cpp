// Concat: tensors joined along an axis.
#include "troupe/ops/join/shared/concat.hpp"
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::concat_op {
namespace {

result<shapes> infer(const infer_context& at) { return infer_concatenation(at, 0, 1); }

edges gradient(gradient_context& at) { return concatenation_gradient(at, 0, 1); }

} // namespace

extern constexpr op_def concat{
    .name = "Concat",
    .doc = "Joins tensors along an axis; their other extents are the same.\n\nThe axis is the "
           "first input.",
    .inputs = {on_host("concat_dim", "i32"), {"values", "T", "N"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"N", at_least{1}}, {"T", any_type}},
    .effects = autocast_infer,
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = Concat(i32(0), f32[[1, 2]], f32[[3, 4], [5, 6]])
fetch y = f32[[1, 2], [3, 4], [5, 6]]
)",
};

} // namespace troupe::ops::concat_op
