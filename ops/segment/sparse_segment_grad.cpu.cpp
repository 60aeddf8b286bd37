#include "troupe/ops/segment/shared/segment_functions.hpp"
#include "troupe/ops/segment/shared/segment_rows.hpp"

namespace troupe::ops::sparse_segment_grad_cpu {
namespace {

status run_sparse_segment_sum_grad(kernel_context& at) {
  TROUPE_ASSIGN(auto rows, sparse_segment_gradients(at, weigh_as_sum::of));
  return combine(at, rows, combination::sum);
}

status run_sparse_segment_mean_grad(kernel_context& at) {
  TROUPE_ASSIGN(auto rows, sparse_segment_gradients(at, weigh_as_mean::of));
  return combine(at, rows, combination::sum);
}

status run_sparse_segment_sqrt_n_grad(kernel_context& at) {
  TROUPE_ASSIGN(auto rows, sparse_segment_gradients(at, weigh_by_root::of<double>));
  return combine(at, rows, combination::sum);
}

} // namespace

extern constexpr kernel_def sparse_segment_sum_grad_cpu{
    .op = "SparseSegmentSumGrad",
    .run = {{dtype::none, run_sparse_segment_sum_grad}},
};

extern constexpr kernel_def sparse_segment_mean_grad_cpu{
    .op = "SparseSegmentMeanGrad",
    .run = {{dtype::none, run_sparse_segment_mean_grad}},
};

extern constexpr kernel_def sparse_segment_sqrt_n_grad_cpu{
    .op = "SparseSegmentSqrtNGrad",
    .run = {{dtype::none, run_sparse_segment_sqrt_n_grad}},
};

} // namespace troupe::ops::sparse_segment_grad_cpu
