// What DynamicStitch and ParallelDynamicStitch share. Their difference is what may be assumed of
// indices that appear twice; here the last always stays.
#pragma once
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

/// The first half of the inputs are indices, the second half the data for each of them.
result<shapes> infer_stitching(const infer_context& at);
edges stitching_gradient(gradient_context& at);
status stitch(kernel_context& at);

/// Checks the shapes of `count` indices and as many data; returns that of an output with so many
/// rows.
result<shape> stitched_dims(const kernel_context& at, int count, int64_t rows);

} // namespace troupe::ops
