// Shared by the definitions and kernels of Concat and ConcatV2, which differ in the position of the
// axis.
#pragma once
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

/// `axis` and `first` are the indices of the axis input and of the first value; the values are
/// consecutive inputs.
result<shapes> infer_concatenation(const infer_context& at, int axis, int first);
edges concatenation_gradient(gradient_context& at, int axis, int first);
status concatenate(kernel_context& at, int axis, int first);

} // namespace troupe::ops
