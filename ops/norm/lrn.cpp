// Local response normalization, and its gradient.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::lrn_op {
namespace {

result<shapes> infer_lrn(const infer_context& at) {
  TROUPE_ASSIGN(auto dims, at.of_rank(0, 4));
  if (at.attr<int64_t>("depth_radius") < 0)
    return at.invalid("depth_radius must not be negative, got ", at.attr<int64_t>("depth_radius"));
  return shapes{dims};
}

edges gradient(gradient_context& at) {
  return {at.op("LRNGrad", {at.output_gradient(0), at.input(0), at.output(0)},
                {{"depth_radius", at.attr<int64_t>("depth_radius")},
                 {"bias", at.attr<double>("bias")},
                 {"alpha", at.attr<double>("alpha")},
                 {"beta", at.attr<double>("beta")}})};
}

result<shapes> infer_lrn_grad(const infer_context& at) {
  TROUPE_ASSIGN(auto dims, at.of_rank(0, 4));
  for (int i : {1, 2}) {
    TROUPE_ASSIGN(dims, merge(dims, at.input(i)));
  }
  if (at.attr<int64_t>("depth_radius") < 0)
    return at.invalid("depth_radius must not be negative, got ", at.attr<int64_t>("depth_radius"));
  return shapes{dims};
}

} // namespace

extern constexpr op_def lrn{
    .name = "LRN",
    .doc = "Divides each element by a power of the sum of squares of its neighbours.\n\n"
           "The neighbours are those up to depth_radius away along the last of four axes: the "
           "element is divided by (bias + alpha * sum) ^ beta.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"depth_radius", 5},
              {"bias", 1.0},
              {"alpha", 1.0},
              {"beta", 0.5},
              {"T", floating, dtype::f32}},
    .infer = infer_lrn,
    .gradient = gradient,
    .example = R"(
y = LRN(f32{1,1,1,3}[1, 2, 2]) depth_radius=1 bias=1.0 alpha=1.0 beta=1.0
fetch y = f32{1,1,1,3}[0.16666667, 0.2, 0.22222222]
)",
};

extern constexpr op_def lrn_grad{
    .name = "LRNGrad",
    .doc = "Computes the gradient of LRN from that of its output, its input and its output.\n\nThe "
           "output must be what LRN gives for the input: some devices compute it anew.",
    .inputs = {{"input_grads", "T"}, {"input_image", "T"}, {"output_image", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"depth_radius", 5},
              {"bias", 1.0},
              {"alpha", 1.0},
              {"beta", 0.5},
              {"T", floating, dtype::f32}},
    .infer = infer_lrn_grad,
    .no_gradient = "not implemented: LRN is differentiated once",
    .example = R"(
x = f32{1,1,1,2}[1, 2]
y = LRN(x) depth_radius=0 beta=1.0
dx = LRNGrad(f32{1,1,1,2}[1, 10], x, y) depth_radius=0 beta=1.0
fetch dx = f32{1,1,1,2}[0, -1.2]
)",
};

} // namespace troupe::ops::lrn_op
