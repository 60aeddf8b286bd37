// Min: the smallest element along some axes.
#include "troupe/ops/reduction/shared/reduction.hpp"

namespace troupe::ops::min_op {

extern constexpr op_def min{
    .name = "Min",
    .doc = "Takes the smallest element along the axes in reduction_indices.\n\nNegative axes count "
           "from the end; an empty list of axes changes nothing. With keep_dims the reduced axes "
           "stay, with extent 1. Where one is NaN, so is the result. Of nothing it is inf, or the "
           "greatest whole number. Elements that are equally small share the gradient.",
    .inputs = {{"input", "T"}, on_host("reduction_indices", "Tidx")},
    .outputs = {{"output", "T"}},
    .attrs = {{"keep_dims", false}, {"T", real_numbers}, {"Tidx", index_types, dtype::i32}},
    .infer = infer_reduction,
    .gradient = reduced_extreme_gradient,
    .simplify = simplify_reduction,
    .example = R"(
y = Min(f32[[1, 2], [4, 3]], i32[1])
fetch y = f32[1, 3]
)",
};

} // namespace troupe::ops::min_op
