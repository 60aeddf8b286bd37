// What collective ops have in common (docs/decisions/020).
#pragma once
#include "troupe/runtime/graph/collective.hpp"
#include "troupe/runtime/graph/gradient_context.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

/// Types that all kinds of devices can compute with together.
inline constexpr dtype_set exchanged_types =
    one_of(dtype::f16, dtype::bf16, dtype::f32, dtype::f64, dtype::i32, dtype::i64);

/// A wait of its own would be a second deadline beside the step's: only 0, which asks for none.
status check_timeout(const infer_context& at);

/// Checks merge_op, final_op and timeout_seconds.
status check_reduction(const infer_context& at);

/// The first axis times, or divided by, so many; unknown where it is not known.
result<shapes> infer_first_axis(const infer_context& at, int64_t times, int64_t divided_by);

/// The node of another collective op that belongs to this one's gradient. Its members find each
/// other by an instance key that follows from that of the node, and from how often the members were
/// differentiated before.
edge gradient_member(gradient_context& at, std::string op, edge input, bool average);

} // namespace troupe::ops
