#include "troupe/ops/sparse/shared/sparse.hpp"

namespace troupe::ops::sparse_slice_cpu {
namespace {

status run(kernel_context& at) {
  TROUPE_ASSIGN(auto x, sparse_view::read(at, sparse_inputs{0}));
  TROUPE_ASSIGN(auto block, read_block(at.input(3), at.input(4), x.dims()));
  std::vector<int64_t> kept, positions;
  for (int64_t i = 0; i < x.count(); ++i)
    if (auto position = block.position_of(x.index(i))) {
      kept.push_back(i);
      positions.push_back(*position);
    }
  TROUPE_TRY(make_indices(at, 0, positions, block.dims));
  TROUPE_TRY(make_values(at, 1, x.values(), kept));
  return make_dims(at, 2, block.dims);
}

} // namespace

extern constexpr kernel_def sparse_slice_cpu{
    .op = "SparseSlice",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops::sparse_slice_cpu
