// Betainc: the incomplete beta function.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::betainc_op {
namespace {

result<shapes> infer(const infer_context& at) {
  partial_shape joint;
  bool all_scalars = true;
  for (int i = 0; i < at.inputs(); ++i) {
    const auto& dims = at.input(i);
    if (dims.rank() == 0)
      continue;
    all_scalars = false;
    if (dims.has_rank()) { // with an unknown rank, it may still be a scalar
      TROUPE_ASSIGN(joint, merge(joint, dims));
    }
  }
  return shapes{all_scalars ? partial_shape{shape{}} : std::move(joint)};
}

// The derivative for x is the integrand; the derivatives for a and b have no closed form.
edges gradient(gradient_context& at) {
  auto a = at.input(0), b = at.input(1), x = at.input(2), dz = at.output_gradient(0);
  auto one_edge = scalar_like(x, 1);
  auto log_gamma = [](edge operand) { return build("Lgamma", {operand}); };
  auto logarithm = build("Xlogy", {a - one_edge, x}) +
                   build("Xlogy", {b - one_edge, one_edge - x}) + log_gamma(a + b) - log_gamma(a) -
                   log_gamma(b);
  return {{}, {}, unbroadcast(dz * build("Exp", {logarithm}), x, at.output(0))};
}

} // namespace

extern constexpr op_def betainc{
    .name = "Betainc",
    .doc = "Computes the regularized incomplete beta function: the share of the integral of t^(a - "
           "1) * (1 - t)^(b - 1) from 0 to 1 that lies below x, element by element.\n\nInputs have "
           "one shape, or are scalars. It is NaN where a or b is not positive, or x is not in [0, "
           "1]. Only x has a gradient.",
    .inputs = {{"a", "T"}, {"b", "T"}, {"x", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", floating}},
    .effects = effect::forwardable,
    .infer = infer,
    .gradient = gradient,
    .example = R"(
x = Placeholder dtype=f32 shape=[-1]
z = Betainc(f32(2), f32(3), x)
feed x = f32[0.25, 0.5, 0.75]
fetch z = f32[0.26171875, 0.6875, 0.94921875]
)",
};

} // namespace troupe::ops::betainc_op
