// Ops that return their inputs; they differ in their checks and gradients.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/simplify.hpp"

namespace troupe::ops::identity_op {
namespace {

edges identity_gradient(gradient_context& at) { return {at.output_gradient(0)}; }

edge simplify(simplify_context& at) { return at.input(0); }

result<shapes> infer_identity_n(const infer_context& at) {
  shapes same;
  for (int i = 0; i < at.inputs(); ++i)
    same.push_back(at.input(i));
  return same;
}

edges identity_n_gradient(gradient_context& at) {
  edges same;
  for (int i = 0; i < at.inputs(); ++i)
    same.push_back(at.has_output_gradient(i) ? at.output_gradient(i) : edge{});
  return same;
}

edges stop_gradient_gradient(gradient_context&) { return {edge{}}; }

edges prevent_gradient_gradient(gradient_context& at) {
  return at.fail(concat("there must be no gradient: ", at.attr<std::string>("message")));
}

result<shapes> infer_ensure_shape(const infer_context& at) {
  TROUPE_ASSIGN(auto dims, merge(at.attr<partial_shape>("shape"), at.input(0)));
  return shapes{dims};
}

edges ensure_shape_gradient(gradient_context& at) { return {at.output_gradient(0)}; }

} // namespace

extern constexpr op_def identity{
    .name = "Identity",
    .doc = "Gives its input.\n\nIt shares the memory and copies nothing.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_value}},
    .effects = effect::autocast_infer,
    .infer = infer::same_as_input,
    .gradient = identity_gradient,
    .simplify = simplify,
    .example = R"(
y = Identity(f32[1, 2])
fetch y = f32[1, 2]
)",
};

extern constexpr op_def identity_n{
    .name = "IdentityN",
    .doc = "Gives its inputs, all of them at once.\n\nWho waits for one output waits for all "
           "inputs. Nothing is copied.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", attr_kind::types, any_value}},
    .infer = infer_identity_n,
    .gradient = identity_n_gradient,
    .example = R"(
y = IdentityN(f64[1, 2], i64(3))
fetch y = f64[1, 2]
fetch y:1 = i64(3)
)",
};

extern constexpr op_def stop_gradient{
    .name = "StopGradient",
    .doc = "Gives its input, and lets no gradient through.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_value}},
    .effects = effect::autocast_infer,
    .infer = infer::same_as_input,
    .gradient = stop_gradient_gradient,
    .simplify = simplify,
    .example = R"(
y = StopGradient(f32[1, 2])
fetch y = f32[1, 2]
)",
};

extern constexpr op_def prevent_gradient{
    .name = "PreventGradient",
    .doc = "Gives its input.\n\nTaking a gradient through it fails with the message.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}, {"message", ""}},
    .infer = infer::same_as_input,
    .gradient = prevent_gradient_gradient,
    .example = R"(
y = PreventGradient(f32[1, 2]) message="the second order is not implemented"
fetch y = f32[1, 2]
)",
};

extern constexpr op_def ensure_shape{
    .name = "EnsureShape",
    .doc = "Gives its input, and fails where that has not the shape.\n\nShape functions know the "
           "shape from here on.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"shape", attr_kind::shape}, {"T", any_type}},
    .infer = infer_ensure_shape,
    .gradient = ensure_shape_gradient,
    .example = R"(
x = Placeholder dtype=f32 shape=?
y = EnsureShape(x) shape=[-1, 2]
feed x = f32[[1, 2]]
fetch y = f32[[1, 2]]
)",
};

} // namespace troupe::ops::identity_op
