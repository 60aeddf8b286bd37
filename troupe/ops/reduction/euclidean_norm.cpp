// EuclideanNorm: the length of vectors along some axes.
#include "troupe/ops/reduction/shared/reduction.hpp"
#include "troupe/runtime/graph/simplify.hpp"

namespace troupe::ops::euclidean_norm_op {
namespace {

// dx = dy * x / |x|
edges gradient(gradient_context& at) {
  auto norm = with_reduced_axes(at, at.output(0));
  return {with_reduced_axes(at, at.output_gradient(0)) * (at.input(0) / norm), {}};
}

} // namespace

extern constexpr op_def euclidean_norm{
    .name = "EuclideanNorm",
    .doc = "Takes the square root of the sum of the squared elements along the axes in "
           "reduction_indices.\n\nNegative axes count from the end. With keep_dims the reduced "
           "axes stay, with extent 1. Squares of whole numbers and their sums wrap around, and the "
           "root is rounded towards zero. The gradient is not defined, and NaN, where the norm is "
           "0.",
    .inputs = {{"input", "T"}, on_host("reduction_indices", "Tidx")},
    .outputs = {{"output", "T"}},
    .attrs = {{"keep_dims", false}, {"T", numbers}, {"Tidx", index_types, dtype::i32}},
    .infer = infer_reduction,
    .gradient = gradient,
    .example = R"(
y = EuclideanNorm(f32[[3, 4], [5, 12]], i32[1])
fetch y = f32[5, 13]
)",
};

} // namespace troupe::ops::euclidean_norm_op
