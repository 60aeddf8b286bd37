// BiasAddGrad: the gradient of BiasAdd with respect to the bias.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/define/data_format.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::bias_add_grad_op {
namespace {

result<shapes> infer(const infer_context& at) {
  const auto& value = at.input(0);
  TROUPE_ASSIGN(auto channels_first, channels_come_first(at.attr<std::string>("data_format")));
  if (!value.has_rank())
    return shapes{partial_shape::of_rank(1)};
  if (value.rank() < 2)
    return at.invalid("out_backprop must have at least 2 axes, got shape ", value);
  return shapes{partial_shape{value[channels_first ? 1 : value.rank() - 1]}};
}

// Every element of a channel contributes once to its sum.
edges gradient(gradient_context& at) {
  return {at.op("BiasAdd", {at.op("ZerosLike", {at.input(0)}), at.output_gradient(0)},
                {{"data_format", at.attr<std::string>("data_format")}})};
}

} // namespace

extern constexpr op_def bias_add_grad{
    .name = "BiasAddGrad",
    .doc = "Sums the gradients of each channel.",
    .inputs = {{"out_backprop", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", numbers}, {"data_format", "NHWC"}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
dy = Placeholder dtype=f32 shape=[-1,2]
db = BiasAddGrad(dy)
feed dy = f32[[1, 2], [3, 4], [5, 6]]
fetch db = f32[9, 12]
)",
};

} // namespace troupe::ops::bias_add_grad_op
