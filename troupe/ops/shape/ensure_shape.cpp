// EnsureShape: the input, if it has the shape that it should have.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::ensure_shape_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto dims, merge(at.attr<partial_shape>("shape"), at.input(0)));
  return shapes{dims};
}

edges gradient(gradient_context& at) { return {at.output_gradient(0)}; }

} // namespace

extern constexpr op_def ensure_shape{
    .name = "EnsureShape",
    .doc = "Gives its input, and fails where that has not the shape.\n\nShape functions know the "
           "shape from here on.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"shape", attr_kind::shape}, {"T", any_type}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
x = Placeholder dtype=f32 shape=?
y = EnsureShape(x) shape=[-1, 2]
feed x = f32[[1, 2]]
fetch y = f32[[1, 2]]
)",
};

} // namespace troupe::ops::ensure_shape_op
