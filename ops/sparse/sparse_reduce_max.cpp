// SparseReduceMax: the largest of the elements that are there, as a dense tensor.
#include "troupe/ops/sparse/sparse_dense.hpp"

namespace troupe::ops {

extern constexpr op_def sparse_reduce_max{
    .name = "SparseReduceMax",
    .doc =
        "Finds the largest elements of a sparse tensor along axes; the result is "
        "dense.\n\nElements that are not there do not count; where there are none the result is 0. "
        "With keep_dims the reduced axes stay, with extent 1.",
    .inputs = {{"input_indices", "i64"},
               {"input_values", "T"},
               on_host("input_shape", "i64"),
               on_host("reduction_axes", "i32")},
    .outputs = {{"output", "T"}},
    .attrs = {{"keep_dims", false}, {"T", real_numbers}},
    .infer = infer_sparse_reduction,
    .no_gradient = "not written yet, as in TensorFlow",
    .example = R"(
y = SparseReduceMax(i64[[0, 1], [1, 0], [1, 2]], f32[1, 2, 3], i64[2, 3], i32[1])
z = SparseReduceMax(i64[[0, 1], [1, 0], [1, 2]], f32[1, 2, 3], i64[2, 3], i32[0]) keep_dims=true
fetch y = f32[1, 3]
fetch z = f32[[2, 1, 3]]
)",
};

} // namespace troupe::ops
