// OnesLike: ones in the shape of a tensor.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::ones_like_op {
namespace {

// The values do not depend on those of x.
edges gradient(gradient_context&) { return {edge{}}; }

} // namespace

extern constexpr op_def ones_like{
    .name = "OnesLike",
    .doc = "Makes a tensor of ones with the type and shape of the input.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", numbers | one_of(dtype::boolean)}},
    .effects = effect::of_shape,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = OnesLike(f32[[1, 2], [3, 4]])
fetch y = f32[[1, 1], [1, 1]]
)",
};

} // namespace troupe::ops::ones_like_op
