#include "troupe/ops/sparse/shared/sparse.hpp"

namespace troupe::ops::sparse_reorder_cpu {
namespace {

status run(kernel_context& at) {
  TROUPE_ASSIGN(auto x, sparse_view::read(at, sparse_inputs{0}));
  auto order = x.sorted();
  std::vector<int64_t> positions(order.size());
  std::ranges::transform(order, positions.begin(),
                         [&](int64_t i) { return x.positions()[static_cast<size_t>(i)]; });
  TROUPE_TRY(make_indices(at, 0, positions, x.dims()));
  return make_values(at, 1, x.values(), order);
}

} // namespace

extern constexpr kernel_def sparse_reorder_cpu{
    .op = "SparseReorder",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops::sparse_reorder_cpu
