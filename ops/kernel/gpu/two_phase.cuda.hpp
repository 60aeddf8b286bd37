// Kernels of GPUs for ops with data-dependent shapes, in two phases (graph/two_phase_op.hpp): the
// first counts, the second computes when the host knows the counts.
#pragma once
#include "troupe/ops/kernel/gpu/launch.cuda.hpp"
#include "troupe/runtime/graph/two_phase_op.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

/// Runs the half that the node is.
template <kernel_fn First, kernel_fn Second>
status in_halves(kernel_context& at) {
  const auto& op = at.origin().op();
  if (has(op.effects, effect::data_dependent_shape))
    return failure(error_kind::internal, "the node was not cut in two");
  return is_first_half(op) ? First(at) : Second(at);
}

/// In the first half: makes the vector of the numbers that the host is to know. What is kept may
/// be made with it, or be set as output 1.
inline result<int64_t*> make_counts(kernel_context& at, int64_t count) {
  TROUPE_ASSIGN(auto* made, at.allocate(0, shape{count}));
  return made->template data<int64_t>();
}
inline result<int64_t*> make_kept(kernel_context& at, const shape& dims) {
  TROUPE_ASSIGN(auto* made, at.allocate(1, dims));
  return made->template data<int64_t>();
}

/// In the second half: what the first has found. Whoever writes a graph may have written other
/// numbers, so their sums are checked, and places that were kept are checked where they are used.
struct counted {
  std::span<const int64_t> counts;
  const int64_t* kept;
};

/// Expects so many counts, which add up to at most `most`, and so many numbers kept.
inline result<counted> counted_before(const kernel_context& at, int64_t counts, int64_t most,
                                      int64_t kept) {
  const auto &numbers = at.input(at.inputs() - 1), &found = at.input(at.inputs() - 2);
  if (numbers.elements() != counts || found.elements() != kept)
    return invalid("expects ", counts, " counts and ", kept, " numbers beside them, got ",
                   numbers.elements(), " and ", found.elements());
  auto left = most;
  for (auto count : numbers.values<int64_t>()) {
    if (count < 0 || count > left)
      return invalid("there cannot be ", count, " of something");
    left -= count;
  }
  return counted{numbers.values<int64_t>(), found.data<int64_t>()};
}

/// How many inputs the op itself has, in the second half.
inline int own_inputs(const kernel_context& at) { return at.inputs() - 2; }

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
