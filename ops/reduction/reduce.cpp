// Reductions along axes.
#include "troupe/ops/reduction/shared/reduction.hpp"
#include "troupe/runtime/graph/simplify.hpp"

namespace troupe::ops::reduce_op {
namespace {

edges sum_gradient(gradient_context& at) {
  return {spread_over_input(at, at.output_gradient(0)), {}};
}

// dx = dy / the number of elements per mean
edges mean_gradient(gradient_context& at) {
  auto x = at.input(0), y = at.output(0), dy = at.output_gradient(0);
  edge count;
  if (x.dims().fully_known() && y.dims().fully_known()) {
    auto means = std::max<int64_t>(y.dims().elements(), 1);
    count = scalar_like(dy, static_cast<double>(x.dims().elements() / means));
  } else {
    attr_map as_i64{{"out_type", dtype::i64}};
    auto one_edge = constant_like(x, tensor::scalar(int64_t{1}));
    auto means = build("Maximum", {build("Size", {y}, as_i64), one_edge});
    count = cast_to(build("Size", {x}, as_i64) / means, dy.type());
  }
  return {spread_over_input(at, dy / count), {}};
}

// The derivative for an element is the product of the other elements: the product of the nonzero
// elements, divided by the element, provided that no other element is zero.
edges prod_gradient(gradient_context& at) {
  auto x = at.input(0), axes = at.input(1), zero = scalar_like(x, 0);
  auto is_zero = build("Equal", {x, zero});
  auto filled = build("Select", {is_zero, build("OnesLike", {x}), x});
  auto product_of_others = build("Prod", {filled, axes}, {{"keep_dims", true}}) / filled;
  auto zeros = cast_to(is_zero, x.type());
  auto other_zeros = build("Sum", {zeros, axes}, {{"keep_dims", true}}) - zeros;
  auto has_no_other_zero = build("Equal", {other_zeros, zero});
  auto derivative = build("Select", {has_no_other_zero, product_of_others, zeros_of(x)});
  return {with_reduced_axes(at, at.output_gradient(0)) * conjugate(derivative), {}};
}

// dx = dy * x / |x|
edges euclidean_norm_gradient(gradient_context& at) {
  auto norm = with_reduced_axes(at, at.output(0));
  return {with_reduced_axes(at, at.output_gradient(0)) * (at.input(0) / norm), {}};
}

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
    .gradient = sum_gradient,
    .simplify = simplify_reduction,
    .example = R"(
x = f32[[1, 2, 3], [4, 5, 6]]
columns = Sum(x, i32[0])
rows = Sum(x, i32[-1]) keep_dims=true
fetch columns = f32[5, 7, 9]
fetch rows = f32[[6], [15]]
)",
};

extern constexpr op_def mean{
    .name = "Mean",
    .doc = "Takes the mean of the elements along the axes in reduction_indices.\n\nNegative axes "
           "count from the end; an empty list of axes changes nothing. With keep_dims the reduced "
           "axes stay, with extent 1. The mean of nothing is NaN, or 0 for whole numbers, whose "
           "mean is rounded towards zero.",
    .inputs = {{"input", "T"}, on_host("reduction_indices", "Tidx")},
    .outputs = {{"output", "T"}},
    .attrs = {{"keep_dims", false}, {"T", numbers}, {"Tidx", index_types, dtype::i32}},
    .infer = infer_reduction,
    .gradient = mean_gradient,
    .simplify = simplify_reduction,
    .example = R"(
x = f32[[1, 2], [3, 5]]
y = Mean(x, i32[0])
fetch y = f32[2, 3.5]
)",
};

extern constexpr op_def prod{
    .name = "Prod",
    .doc = "Multiplies the elements along the axes in reduction_indices.\n\nNegative axes count "
           "from the end; an empty list of axes changes nothing. With keep_dims the reduced axes "
           "stay, with extent 1. The product of nothing is 1.",
    .inputs = {{"input", "T"}, on_host("reduction_indices", "Tidx")},
    .outputs = {{"output", "T"}},
    .attrs = {{"keep_dims", false}, {"T", numbers}, {"Tidx", index_types, dtype::i32}},
    .infer = infer_reduction,
    .gradient = prod_gradient,
    .simplify = simplify_reduction,
    .example = R"(
y = Prod(f32[[1, 2], [3, 4]], i32[1])
fetch y = f32[2, 12]
)",
};

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
    .gradient = euclidean_norm_gradient,
    .example = R"(
y = EuclideanNorm(f32[[3, 4], [5, 12]], i32[1])
fetch y = f32[5, 13]
)",
};

extern constexpr op_def max{
    .name = "Max",
    .doc = "Takes the largest element along the axes in reduction_indices.\n\nNegative axes count "
           "from the end; an empty list of axes changes nothing. With keep_dims the reduced axes "
           "stay, with extent 1. Where one is NaN, so is the result. Of nothing it is -inf, or the "
           "least whole number. Elements that are equally large share the gradient.",
    .inputs = {{"input", "T"}, on_host("reduction_indices", "Tidx")},
    .outputs = {{"output", "T"}},
    .attrs = {{"keep_dims", false}, {"T", real_numbers}, {"Tidx", index_types, dtype::i32}},
    .infer = infer_reduction,
    .gradient = reduced_extreme_gradient,
    .simplify = simplify_reduction,
    .example = R"(
y = Max(f32[[1, 2], [4, 3]], i32[1])
fetch y = f32[2, 4]
)",
};

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

extern constexpr op_def all{
    .name = "All",
    .doc = "Says whether all elements along the axes in reduction_indices are true.\n\nNegative "
           "axes count from the end; an empty list of axes changes nothing. With keep_dims the "
           "reduced axes stay, with extent 1. All of nothing are true.",
    .inputs = {{"input", "bool"}, on_host("reduction_indices", "Tidx")},
    .outputs = {{"output", "bool"}},
    .attrs = {{"keep_dims", false}, {"Tidx", index_types, dtype::i32}},
    .infer = infer_reduction,
    .no_gradient = "truth values have no gradient",
    .simplify = simplify_reduction,
    .example = R"(
y = All(bool[[true, true], [true, false]], i32[1])
fetch y = bool[true, false]
)",
};

extern constexpr op_def any{
    .name = "Any",
    .doc = "Says whether any element along the axes in reduction_indices is true.\n\nNegative axes "
           "count from the end; an empty list of axes changes nothing. With keep_dims the reduced "
           "axes stay, with extent 1. Of nothing none is true.",
    .inputs = {{"input", "bool"}, on_host("reduction_indices", "Tidx")},
    .outputs = {{"output", "bool"}},
    .attrs = {{"keep_dims", false}, {"Tidx", index_types, dtype::i32}},
    .infer = infer_reduction,
    .no_gradient = "truth values have no gradient",
    .simplify = simplify_reduction,
    .example = R"(
y = Any(bool[[false, true], [false, false]], i32[1])
fetch y = bool[true, false]
)",
};

} // namespace troupe::ops::reduce_op
