// Identity: the input itself.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/precision.hpp"
#include "troupe/runtime/graph/simplify.hpp"

namespace troupe::ops::identity_op {
namespace {

edges gradient(gradient_context& at) { return {at.output_gradient(0)}; }

edge simplify(simplify_context& at) { return at.input(0); }

} // namespace

extern constexpr op_def identity{
    .name = "Identity",
    .doc = "Gives its input.\n\nIt shares the memory and copies nothing.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}},
    .effects = autocast_infer,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .simplify = simplify,
    .example = R"(
y = Identity(f32[1, 2])
fetch y = f32[1, 2]
)",
};

} // namespace troupe::ops::identity_op
