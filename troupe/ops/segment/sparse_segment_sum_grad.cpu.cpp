#include "troupe/ops/segment/shared/segment_functions.hpp"
#include "troupe/ops/segment/shared/segment_rows.hpp"

namespace troupe::ops::sparse_segment_sum_grad_cpu {
namespace {

status run(kernel_context& at) {
  TROUPE_ASSIGN(auto rows, sparse_segment_gradients(at, weigh_as_sum::of));
  return combine(at, rows, combination::sum);
}

} // namespace

extern constexpr kernel_def sparse_segment_sum_grad_cpu{
    .op = "SparseSegmentSumGrad",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops::sparse_segment_sum_grad_cpu
