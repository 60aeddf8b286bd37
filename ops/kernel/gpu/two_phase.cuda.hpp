// GPU kernels of ops with data-dependent shapes, in two phases (graph/two_phase_op.hpp): the first
// counts, the second computes once the host knows the counts.
#pragma once
#include "troupe/ops/kernel/gpu/launch.cuda.hpp"
#include "troupe/runtime/graph/two_phase_op.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

/// Runs the kernel of the phase that the node represents: First or Second.
template <kernel_fn First, kernel_fn Second>
status in_halves(kernel_context& at) {
  const auto& op = at.origin().op();
  if (has(op.effects, effect::data_dependent_shape))
    return failure(error_kind::internal, "the node was not divided into two phases");
  return is_first_phase(op) ? First(at) : Second(at);
}

/// In the first phase: allocates output 0, the counts, which the host reads. Other numbers that the
/// second phase needs are allocated by make_kept(), or set as output 1.
inline result<int64_t*> make_counts(kernel_context& at, int64_t count) {
  TROUPE_ASSIGN(auto* counts, at.allocate(0, shape{count}));
  return counts->template data<int64_t>();
}
inline result<int64_t*> make_kept(kernel_context& at, const shape& dims) {
  TROUPE_ASSIGN(auto* kept, at.allocate(1, dims));
  return kept->template data<int64_t>();
}

/// In the second phase: the results of the first. A graph's author may have supplied other numbers,
/// so the sum of the counts is checked here, and kept positions are checked where they are used.
struct counted {
  std::span<const int64_t> counts;
  const int64_t* kept;
};

/// Requires this many counts, which add up to at most `most`, and this many kept numbers.
inline result<counted> counted_before(const kernel_context& at, int64_t counts, int64_t most,
                                      int64_t kept) {
  const auto &given_counts = at.input(at.inputs() - 1), &given_kept = at.input(at.inputs() - 2);
  if (given_counts.elements() != counts || given_kept.elements() != kept)
    return invalid("expects ", counts, " counts and ", kept, " numbers beside them, got ",
                   given_counts.elements(), " and ", given_kept.elements());
  auto budget = most;
  for (auto count : given_counts.values<int64_t>()) {
    if (count < 0 || count > budget)
      return invalid("the counts of the first phase must not be negative, and add up to at most ",
                     most, ", got a count of ", count);
    budget -= count;
  }
  return counted{given_counts.values<int64_t>(), given_kept.data<int64_t>()};
}

/// The number of inputs of the op itself, in the second phase.
inline int own_inputs(const kernel_context& at) { return at.inputs() - 2; }

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
