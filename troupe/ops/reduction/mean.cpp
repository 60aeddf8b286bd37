// Mean: the mean over some axes.
#include "troupe/ops/reduction/shared/reduction.hpp"
#include "troupe/runtime/graph/simplify.hpp"

namespace troupe::ops::mean_op {
namespace {

// dx = dy / how many elements each mean is of
edges gradient(gradient_context& at) {
  auto x = at.input(0), y = at.output(0), dy = at.output_gradient(0);
  edge count;
  if (x.dims().fully_known() && y.dims().fully_known()) {
    auto means = std::max<int64_t>(y.dims().elements(), 1);
    count = scalar_like(dy, static_cast<double>(x.dims().elements() / means));
  } else {
    attr_map as_i64{{"out_type", dtype::i64}};
    auto one = constant_like(x, tensor::scalar(int64_t{1}));
    auto means = build("Maximum", {build("Size", {y}, as_i64), one});
    count = cast_to(build("Size", {x}, as_i64) / means, dy.type());
  }
  return {spread_over_input(at, dy / count), {}};
}

} // namespace

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
    .gradient = gradient,
    .simplify = simplify_reduction,
    .example = R"(
x = f32[[1, 2], [3, 5]]
y = Mean(x, i32[0])
fetch y = f32[2, 3.5]
)",
};

} // namespace troupe::ops::mean_op
