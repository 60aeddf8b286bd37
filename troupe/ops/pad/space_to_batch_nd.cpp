// SpaceToBatchND: the places in blocks of a tensor as parts of its batch.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/pad/shared/space_and_batch.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::space_to_batch_nd_op {
namespace {

result<shapes> infer(const infer_context& at) {
  return infer_batching(at, batching::space_to_batch);
}

edges gradient(gradient_context& at) {
  return {build("BatchToSpaceND", {at.output_gradient(0), at.input(1), at.input(2)}), {}, {}};
}

} // namespace

extern constexpr op_def space_to_batch_nd{
    .name = "SpaceToBatchND",
    .doc = "Cuts axes 1, 2, ... into blocks of extents block_shape; the places in a block become "
           "parts of the batch, axis 0.\n\n"
           "First the axes are padded with zeros, paddings[i, 0] before and paddings[i, 1] "
           "behind, to multiples of the block.",
    .inputs = {{"input", "T"},
               on_host("block_shape", "Tblock_shape"),
               on_host("paddings", "Tpaddings")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type},
              {"Tblock_shape", index_types, dtype::i32},
              {"Tpaddings", index_types, dtype::i32}},
    .effects = autocast_infer,
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = SpaceToBatchND(f32[[1, 2, 3]], i32[2], i32[[1, 0]])
fetch y = f32[[0, 2], [1, 3]]
)",
};

} // namespace troupe::ops::space_to_batch_nd_op
