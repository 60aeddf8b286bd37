// Shared by Transpose and ConjugateTranspose.
#pragma once
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

/// Input 0 with its axes in the order that input 1 lists.
result<shapes> infer_transposition(const infer_context& at);

/// Shares the input's memory where the order of the elements does not change.
result<tensor> transposed(kernel_context& at);

} // namespace troupe::ops
