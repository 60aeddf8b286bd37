#include "troupe/ops/array/greatest.hpp"

namespace troupe::ops {
namespace {

status run(kernel_context& at) {
  if (at.input(1).elements() != 1)
    return invalid("k must be a scalar, got shape ", at.input(1).dims());
  return find_greatest(at, to_integers(at.input(1))[0]);
}

} // namespace

extern constexpr kernel_def top_k_v2_cpu{
    .op = "TopKV2",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops
