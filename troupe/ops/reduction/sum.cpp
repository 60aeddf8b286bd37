// Sum: the sum over some axes.
#include "troupe/ops/reduction/shared/reduction.hpp"
#include "troupe/runtime/graph/simplify.hpp"

namespace troupe::ops::sum_op {
namespace {

edges gradient(gradient_context& at) { return {spread_over_input(at, at.output_gradient(0)), {}}; }

} // namespace

extern constexpr op_def sum{
    .name = "Sum",
    .doc = "Adds up the elements along the axes in reduction_indices.\n\nNegative axes count from "
           "the end; an empty list of axes changes nothing. With keep_dims the reduced axes stay, "
           "with extent 1. The sum of nothing is 0.",
    .inputs = {{"input", "T"}, on_host("reduction_indices", "Tidx")},
    .outputs = {{"output", "T"}},
    .attrs = {{"keep_dims", false}, {"T", numbers}, {"Tidx", index_types, dtype::i32}},
    .infer = infer_reduction,
    .gradient = gradient,
    .simplify = simplify_reduction,
    .example = R"(
x = f32[[1, 2, 3], [4, 5, 6]]
columns = Sum(x, i32[0])
rows = Sum(x, i32[-1]) keep_dims=true
fetch columns = f32[5, 7, 9]
fetch rows = f32[[6], [15]]
)",
};

} // namespace troupe::ops::sum_op
