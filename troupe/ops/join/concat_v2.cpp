// ConcatV2: tensors joined along an axis.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/join/shared/concat.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::concat_v2_op {
namespace {

result<shapes> infer(const infer_context& at) {
  return infer_concatenation(at, at.inputs() - 1, 0);
}

edges gradient(gradient_context& at) { return concatenation_gradient(at, at.inputs() - 1, 0); }

} // namespace

extern constexpr op_def concat_v2{
    .name = "ConcatV2",
    .doc = "Joins tensors along an axis; their other extents are the same.\n\nThe axis is the last "
           "input.",
    .inputs = {{"values", "T", "N"}, on_host("axis", "Tidx")},
    .outputs = {{"output", "T"}},
    .attrs = {{"N", at_least{1}}, {"T", any_type}, {"Tidx", index_types, dtype::i32}},
    .effects = autocast_infer,
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = ConcatV2(f32[[1, 2]], f32[[3, 4], [5, 6]], i32(0))
fetch y = f32[[1, 2], [3, 4], [5, 6]]
)",
};

} // namespace troupe::ops::concat_v2_op
