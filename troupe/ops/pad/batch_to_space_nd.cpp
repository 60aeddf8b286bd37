// BatchToSpaceND: parts of a batch as places in blocks.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/pad/shared/space_and_batch.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::batch_to_space_nd_op {
namespace {

result<shapes> infer(const infer_context& at) {
  return infer_batching(at, batching::batch_to_space);
}

edges gradient(gradient_context& at) {
  return {build("SpaceToBatchND", {at.output_gradient(0), at.input(1), at.input(2)}), {}, {}};
}

} // namespace

extern constexpr op_def batch_to_space_nd{
    .name = "BatchToSpaceND",
    .doc = "Takes the batch, axis 0, apart into parts, one for each place in a block of extents "
           "block_shape, and puts the blocks together along axes 1, 2, ...\n\nThen crops[i, 0] "
           "elements before and crops[i, 1] behind are dropped from each of these axes.",
    .inputs = {{"input", "T"}, on_host("block_shape", "Tblock_shape"), on_host("crops", "Tcrops")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type},
              {"Tblock_shape", index_types, dtype::i32},
              {"Tcrops", index_types, dtype::i32}},
    .effects = autocast_infer,
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = BatchToSpaceND(f32[[0, 2], [1, 3]], i32[2], i32[[1, 0]])
fetch y = f32[[1, 2, 3]]
)",
};

} // namespace troupe::ops::batch_to_space_nd_op
