// Shared by the kernels of ArgMax and ArgMin, on all devices.
#pragma once
#include "troupe/ops/define/axes.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

/// Lines of elements that are `inner` apart; output 0 has an index per line.
struct arg_extreme_lines {
  tensor* out;
  int64_t length, inner;
};

inline result<arg_extreme_lines> lines_of_arg_extreme(kernel_context& at) {
  const auto& dims = at.input(0).dims();
  if (at.input(1).elements() != 1)
    return invalid("dimension must be one number, got shape ", at.input(1).dims());
  TROUPE_ASSIGN(auto axis, resolve_axis(to_integers(at.input(1))[0], dims.rank()));
  axis_set along;
  along.set(static_cast<size_t>(axis));
  TROUPE_ASSIGN(auto* out, at.allocate(0, without(dims, along, false)));
  if (out->elements() > 0 && dims[axis] == 0)
    return invalid("axis ", axis, " of ", dims, " is empty");
  return arg_extreme_lines{out, dims[axis], product(dims, axis + 1, dims.rank())};
}

} // namespace troupe::ops
