// Conj: the complex conjugate of each element.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/simplify.hpp"

namespace troupe::ops::conj_op {
namespace {

edges gradient(gradient_context& at) { return {conjugate(at.output_gradient(0))}; }

edge simplify(simplify_context& at) {
  auto* inner = at.same_op_behind(0);
  return inner ? inner->inputs()[0] : edge{};
}

} // namespace

extern constexpr op_def conj{
    .name = "Conj",
    .doc = "Negates the imaginary part of each element.\n\nReal numbers have no Conj: they are "
           "their own conjugates.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .simplify = simplify,
    .example = R"(
y = Conj(c64[[1, 2], [0, -1]])
fetch y = c64[[1, -2], [0, 1]]
)",
};

} // namespace troupe::ops::conj_op
