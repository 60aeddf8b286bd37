// Shared by DynamicStitch and ParallelDynamicStitch. They differ in the result that duplicate
// indices permit; here the last one always wins.
#pragma once
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

/// The first half of the inputs are indices, the second half the data for each index input.
result<shapes> infer_stitching(const infer_context& at);
edges stitching_gradient(gradient_context& at);
status stitch(kernel_context& at);

/// Checks the shapes of `count` index inputs and as many data inputs; returns the shape of an
/// output with this many rows.
result<shape> stitched_dims(const kernel_context& at, int count, int64_t rows);

} // namespace troupe::ops
