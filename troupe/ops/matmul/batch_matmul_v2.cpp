// BatchMatMulV2: products of batches of matrices that broadcast.
#include "troupe/ops/matmul/batch_matmul.hpp"
#include "troupe/runtime/graph/epilogue.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::batch_matmul_v2_op {

extern constexpr op_def batch_matmul_v2{
    .name = "BatchMatMulV2",
    .doc =
        "Multiplies each matrix of x by a matrix of y.\n\nThe last two axes are the matrices; all "
        "others broadcast by NumPy's rules. With adj_x or adj_y the operand is transposed "
        "first, and conjugated.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"adj_x", false}, {"adj_y", false}, {"T", numbers}},
    .effects = autocast_allow | is_product | effect::broadcasting,
    .infer = infer_batch_matmul,
    .gradient = batch_matmul_gradient,
    .flops = batch_matmul_flops,
    .example = R"(
x = f32[[[1, 2], [3, 4]], [[1, 0], [0, 1]]]
z = BatchMatMulV2(x, f32[[1], [2]])
t = BatchMatMulV2(x, f32[[[1, 1]]]) adj_x=true adj_y=true
fetch z = f32[[[5], [11]], [[1], [2]]]
fetch t = f32[[[4], [6]], [[1], [1]]]
)",
};

} // namespace troupe::ops::batch_matmul_v2_op
