// Shared by the collective ops (docs/decisions/020).
#pragma once
#include "troupe/runtime/graph/collective.hpp"
#include "troupe/runtime/graph/gradient_context.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

/// The element types that every kind of device can reduce.
inline constexpr dtype_set exchanged_types =
    one_of(dtype::f16, dtype::bf16, dtype::f32, dtype::f64, dtype::i32, dtype::i64);

/// timeout_seconds must be 0: another value would be a second deadline beside the step's.
status check_timeout(const infer_context& at);

/// Checks merge_op, final_op and timeout_seconds.
status check_reduction(const infer_context& at);

/// Infers the shape whose first axis is `times / divided_by` of the input's; unknown extents stay
/// unknown.
result<shapes> infer_first_axis(const infer_context& at, int64_t times, int64_t divided_by);

/// Adds the node of another collective op for the gradient of this node. Its members find each
/// other by an instance key derived from the forward node's key and from how often the members were
/// differentiated before.
edge gradient_member(gradient_context& at, std::string op, edge input, bool average);

} // namespace troupe::ops
