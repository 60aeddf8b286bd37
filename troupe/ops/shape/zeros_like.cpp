// ZerosLike: zeros in the shape of a tensor.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::zeros_like_op {
namespace {

// The values do not depend on those of x.
edges gradient(gradient_context&) { return {edge{}}; }

} // namespace

extern constexpr op_def zeros_like{
    .name = "ZerosLike",
    .doc = "Makes a tensor of zeros with the type and shape of the input.\n\nThe zero of strings "
           "is the empty one.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", any_type}},
    .effects = effect::of_shape,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = ZerosLike(f32[[1, 2], [3, 4]])
fetch y = f32[[0, 0], [0, 0]]
)",
};

} // namespace troupe::ops::zeros_like_op
