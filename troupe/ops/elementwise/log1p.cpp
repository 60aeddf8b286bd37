// Log1p: the natural logarithm of each element plus one.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::log1p_op {
namespace {

edges gradient(gradient_context& at) {
  auto x = conjugate(at.input(0)), dy = at.output_gradient(0);
  return {dy / (scalar_like(x, 1) + x)};
}

} // namespace

extern constexpr op_def log1p{
    .name = "Log1p",
    .doc = "Computes log(1 + x) of each element, exact also where x is near 0.\n\nIt is -inf at -1 "
           "and NaN below.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Log1p(f32[0, 1.7182817, 1e-10])
fetch y = f32[0, 1, 1e-10]
)",
};

} // namespace troupe::ops::log1p_op
