// PreventGradient: a value that nobody may differentiate.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::prevent_gradient_op {
namespace {

edges gradient(gradient_context& at) {
  return at.fail(concat("there must be no gradient: ", at.attr<std::string>("message")));
}

} // namespace

extern constexpr op_def prevent_gradient{
    .name = "PreventGradient",
    .doc = "Gives its input.\n\nTaking a gradient through it fails with the message.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}, {"message", ""}},
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = PreventGradient(f32[1, 2]) message="the second order is not implemented"
fetch y = f32[1, 2]
)",
};

} // namespace troupe::ops::prevent_gradient_op
