// SparseSlice: a block of a sparse tensor.
#include "troupe/ops/sparse/shared/sparse.hpp"

namespace troupe::ops::sparse_slice_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto known, infer_sparse(at, sparse_inputs{0}));
  TROUPE_TRY(at.of_rank(3, 1));
  TROUPE_TRY(at.of_rank(4, 1));
  auto rank = known.index_dims()[1];
  return shapes{{unknown_extent, rank}, {unknown_extent}, {rank}};
}

edges gradient(gradient_context& at) {
  auto dx =
      build("SparseSliceGrad", {at.output_gradient(1), at.input(0), at.input(3), at.output(0)});
  return {{}, dx, {}, {}, {}};
}

} // namespace

extern constexpr op_def sparse_slice{
    .name = "SparseSlice",
    .doc = "Takes the elements of a block that begins at start and has the extents "
           "size.\n\nThe block may reach beyond the tensor; output_shape is the part inside. "
           "Elements keep their order.",
    .inputs = {{"indices", "i64"},
               {"values", "T"},
               on_host("shape", "i64"),
               on_host("start", "i64"),
               on_host("size", "i64")},
    .outputs = {{"output_indices", "i64"}, {"output_values", "T"}, {"output_shape", "i64"}},
    .attrs = {{"T", any_type}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = SparseSlice(i64[[0, 1], [1, 0], [1, 2]], f32[1, 2, 3], i64[2, 3], i64[1, 1], i64[1, 9])
fetch y = i64[[0, 1]]
fetch y:1 = f32[3]
fetch y:2 = i64[1, 2]
)",
};

} // namespace troupe::ops::sparse_slice_op
