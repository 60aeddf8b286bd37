// Prod: the product over some axes.
#include "troupe/ops/reduction/shared/reduction.hpp"
#include "troupe/runtime/graph/simplify.hpp"

namespace troupe::ops::prod_op {
namespace {

// The derivative by an element is the product of the others: the product of those that are not
// zero, divided by the element, as long as no other is zero.
edges gradient(gradient_context& at) {
  auto x = at.input(0), axes = at.input(1), zero = scalar_like(x, 0);
  auto is_zero = build("Equal", {x, zero});
  auto filled = build("Select", {is_zero, build("OnesLike", {x}), x});
  auto rest = build("Prod", {filled, axes}, {{"keep_dims", true}}) / filled;
  auto zeros = cast_to(is_zero, x.type());
  auto other_zeros = build("Sum", {zeros, axes}, {{"keep_dims", true}}) - zeros;
  auto alone = build("Equal", {other_zeros, zero});
  auto others = build("Select", {alone, rest, zeros_of(x)});
  return {with_reduced_axes(at, at.output_gradient(0)) * conjugate(others), {}};
}

} // namespace

extern constexpr op_def prod{
    .name = "Prod",
    .doc = "Multiplies the elements along the axes in reduction_indices.\n\nNegative axes count "
           "from the end; an empty list of axes changes nothing. With keep_dims the reduced axes "
           "stay, with extent 1. The product of nothing is 1.",
    .inputs = {{"input", "T"}, on_host("reduction_indices", "Tidx")},
    .outputs = {{"output", "T"}},
    .attrs = {{"keep_dims", false}, {"T", numbers}, {"Tidx", index_types, dtype::i32}},
    .infer = infer_reduction,
    .gradient = gradient,
    .simplify = simplify_reduction,
    .example = R"(
y = Prod(f32[[1, 2], [3, 4]], i32[1])
fetch y = f32[2, 12]
)",
};

} // namespace troupe::ops::prod_op
