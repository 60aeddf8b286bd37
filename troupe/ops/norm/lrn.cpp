// LRN: local response normalization (Krizhevsky et al., 2012).
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::lrn_op {
namespace {

result<shapes> infer(const infer_context& at) {
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
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = LRN(f32{1,1,1,3}[1, 2, 2]) depth_radius=1 bias=1.0 alpha=1.0 beta=1.0
fetch y = f32{1,1,1,3}[0.16666667, 0.2, 0.22222222]
)",
};

} // namespace troupe::ops::lrn_op
