// LRNGrad: the gradient of LRN.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::lrn_grad_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto dims, at.of_rank(0, 4));
  for (int i : {1, 2}) {
    TROUPE_ASSIGN(dims, merge(dims, at.input(i)));
  }
  if (at.attr<int64_t>("depth_radius") < 0)
    return at.invalid("depth_radius must not be negative, got ", at.attr<int64_t>("depth_radius"));
  return shapes{dims};
}

} // namespace

extern constexpr op_def lrn_grad{
    .name = "LRNGrad",
    .doc = "Computes the gradient of LRN from that of its output, its input and its output.",
    .inputs = {{"input_grads", "T"}, {"input_image", "T"}, {"output_image", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"depth_radius", 5},
              {"bias", 1.0},
              {"alpha", 1.0},
              {"beta", 0.5},
              {"T", floating, dtype::f32}},
    .infer = infer,
    .no_gradient = "nobody has needed it: LRN is differentiated once",
    .example = R"(
x = f32{1,1,1,2}[1, 2]
y = LRN(x) depth_radius=0 beta=1.0
dx = LRNGrad(f32{1,1,1,2}[1, 10], x, y) depth_radius=0 beta=1.0
fetch dx = f32{1,1,1,2}[0, -1.2]
)",
};

} // namespace troupe::ops::lrn_grad_op
