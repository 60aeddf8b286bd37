#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/sparse/shared/sparse.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::sparse_slice_cpu {
namespace {

status run_sparse_slice(kernel_context& at) {
  TROUPE_ASSIGN(auto x, sparse_view::read(at, sparse_inputs{0}));
  TROUPE_ASSIGN(auto block, read_block(at.input(3), at.input(4), x.dims()));
  std::vector<int64_t> kept_elements, positions;
  for (int64_t i = 0; i < x.count(); ++i)
    if (auto position = block.position_of(x.index(i))) {
      kept_elements.push_back(i);
      positions.push_back(*position);
    }
  TROUPE_TRY(make_indices(at, 0, positions, block.dims));
  TROUPE_TRY(make_values(at, 1, x.values(), kept_elements));
  return make_dims(at, 2, block.dims);
}

status run_sparse_slice_grad(kernel_context& at) {
  const auto &gradient = at.input(0), &indices = at.input(1), &start = at.input(2),
             &kept_indices = at.input(3);
  if (gradient.rank() != 1 || indices.rank() != 2 || start.rank() != 1 || kept_indices.rank() != 2)
    return invalid("a vector of gradients, indices with 2 axes, a vector, and indices with 2 axes "
                   "are expected, got shapes ",
                   gradient.dims(), ", ", indices.dims(), ", ", start.dims(), " and ",
                   kept_indices.dims());
  auto rank = indices.dims()[1];
  if (start.elements() != rank || kept_indices.dims()[1] != rank ||
      kept_indices.dims()[0] != gradient.elements())
    return invalid("indices ", indices.dims(), ", start ", start.dims(), ", output indices ",
                   kept_indices.dims(), " and gradients ", gradient.dims(),
                   " do not fit each other");
  auto inputs = to_integers(indices), first = to_integers(start),
       outputs = to_integers(kept_indices);
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{indices.dims()[0]}));
  std::memset(out->raw(), 0, out->bytes());
  // Both lists have the same order, so each kept element matches the next possible one.
  int64_t next = 0;
  for (int64_t i = 0; i < indices.dims()[0] && next < gradient.elements(); ++i) {
    bool same = true;
    for (int64_t axis = 0; same && axis < rank; ++axis) {
      int64_t moved = 0; // may overflow for an invalid start
      same =
          !__builtin_add_overflow(outputs.data()[next * rank + axis], first.data()[axis], &moved) &&
          inputs.data()[i * rank + axis] == moved;
    }
    if (same)
      copy_elements({gradient, next++}, {*out, i}, 1);
  }
  if (next < gradient.elements())
    return invalid("output index ", next, " is none of the input indices, or not in their order");
  return {};
}

} // namespace

extern constexpr kernel_def sparse_slice_cpu{
    .op = "SparseSlice",
    .run = {{dtype::none, run_sparse_slice}},
};

extern constexpr kernel_def sparse_slice_grad_cpu{
    .op = "SparseSliceGrad",
    .run = {{dtype::none, run_sparse_slice_grad}},
};

} // namespace troupe::ops::sparse_slice_cpu
