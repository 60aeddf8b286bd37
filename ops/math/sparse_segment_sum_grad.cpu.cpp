#include "troupe/ops/math/segment_rows.hpp"

namespace troupe::ops {
namespace {

double weight(double) { return 1; }

status run(kernel_context& at) {
  TROUPE_ASSIGN(auto rows, sparse_segment_gradients(at, weight));
  return combine(at, rows, combination::sum);
}

} // namespace

extern constexpr kernel_def sparse_segment_sum_grad_cpu{
    .op = "SparseSegmentSumGrad",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops
