// GPU kernels of ops with data-dependent shapes, in two phases (graph/two_phase_op.hpp): the first
// counts, the second computes once the host knows the counts.
#pragma once
#include "troupe/ops/kernel/gpu/launch.cuda.hpp"
#include "troupe/runtime/graph/two_phase_op.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

/// Runs the half that the node represents.
template <kernel_fn First, kernel_fn Second>
status in_halves(kernel_context& at) {
  const auto& op = at.origin().op();
  if (has(op.effects, effect::data_dependent_shape))
    return failure(error_kind::internal, "the node was not cut in two");
  return is_first_phase(op) ? First(at) : Second(at);
}

/// In the first half: allocates the vector of numbers for the host. The numbers that the second
/// half needs are allocated by make_kept, or set as output 1.
inline result<int64_t*> make_counts(kernel_context& at, int64_t count) {
  TROUPE_ASSIGN(auto* counts, at.allocate(0, shape{count}));
  return counts->template data<int64_t>();
}
inline result<int64_t*> make_kept(kernel_context& at, const shape& dims) {
  TROUPE_ASSIGN(auto* kept, at.allocate(1, dims));
  return kept->template data<int64_t>();
}

/// In the second half: the results of the first half. A graph's author may have supplied other
/// numbers, so their sums are checked here, and kept positions are checked where they are used.
struct counted {
  std::span<const int64_t> counts;
  const int64_t* kept;
};

/// Requires this many counts, which add up to at most `most`, and this many kept numbers.
inline result<counted> counted_before(const kernel_context& at, int64_t counts, int64_t most,
                                      int64_t kept) {
  const auto &numbers = at.input(at.inputs() - 1), &count_values = at.input(at.inputs() - 2);
  if (numbers.elements() != counts || count_values.elements() != kept)
    return invalid("expects ", counts, " counts and ", kept, " numbers beside them, got ",
                   numbers.elements(), " and ", count_values.elements());
  auto budget = most;
  for (auto count : numbers.values<int64_t>()) {
    if (count < 0 || count > budget)
      return invalid("there cannot be ", count, " of something");
    budget -= count;
  }
  return counted{numbers.values<int64_t>(), count_values.data<int64_t>()};
}

/// The number of inputs of the op itself, in the second half.
inline int own_inputs(const kernel_context& at) { return at.inputs() - 2; }

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
