// StopGradient: a value that counts as constant.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/precision.hpp"
#include "troupe/runtime/graph/simplify.hpp"

namespace troupe::ops::stop_gradient_op {
namespace {

edges gradient(gradient_context&) { return {edge{}}; }

edge simplify(simplify_context& at) { return at.input(0); }

} // namespace

extern constexpr op_def stop_gradient{
    .name = "StopGradient",
    .doc = "Gives its input, and lets no gradient through.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}},
    .effects = autocast_infer,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .simplify = simplify,
    .example = R"(
y = StopGradient(f32[1, 2])
fetch y = f32[1, 2]
)",
};

} // namespace troupe::ops::stop_gradient_op
