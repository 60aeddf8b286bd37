// BiasAdd and its gradient: one number for each channel.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/define/data_format.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/simplify.hpp"

namespace troupe::ops::bias_add_op {
namespace {

result<shapes> infer_bias_add(const infer_context& at) {
  TROUPE_ASSIGN(auto bias, at.of_rank(1, 1));
  auto value = at.input(0);
  TROUPE_ASSIGN(auto channels_first, channels_come_first(at.attr<std::string>("data_format")));
  if (!value.has_rank())
    return shapes{value};
  if (value.rank() < 2)
    return at.invalid("value must have at least 2 axes, got shape ", value);
  auto axis = channels_first ? 1 : value.rank() - 1;
  if (value[axis] == unknown_extent)
    value.set(axis, bias[0]);
  else if (bias[0] != unknown_extent && bias[0] != value[axis])
    return at.invalid("bias has ", bias[0], " elements, value of shape ", value, " has ",
                      value[axis], " channels");
  return shapes{value};
}

edges bias_add_gradient(gradient_context& at) {
  auto dy = at.output_gradient(0);
  return {dy, at.op("BiasAddGrad", {dy}, {{"data_format", at.attr<std::string>("data_format")}})};
}

// Along the last axis BiasAdd is an Add, which can be fused with the next nodes.
edge simplify(simplify_context& at) {
  const auto &value = at.input(0).dims(), &bias = at.input(1).dims();
  if (at.attr<std::string>("data_format") != "NHWC" || !value.has_rank() || !bias.has_rank() ||
      bias[0] == unknown_extent || value[value.rank() - 1] != bias[0])
    return {};
  return at.op("Add", {at.input(0), at.input(1)});
}

result<shapes> infer_bias_add_grad(const infer_context& at) {
  const auto& value = at.input(0);
  TROUPE_ASSIGN(auto channels_first, channels_come_first(at.attr<std::string>("data_format")));
  if (!value.has_rank())
    return shapes{partial_shape::of_rank(1)};
  if (value.rank() < 2)
    return at.invalid("out_backprop must have at least 2 axes, got shape ", value);
  return shapes{partial_shape{value[channels_first ? 1 : value.rank() - 1]}};
}

// Every element of a channel contributes once to its sum.
edges bias_add_grad_gradient(gradient_context& at) {
  return {at.op("BiasAdd", {at.op("ZerosLike", {at.input(0)}), at.output_gradient(0)},
                {{"data_format", at.attr<std::string>("data_format")}})};
}

} // namespace

extern constexpr op_def bias_add{
    .name = "BiasAdd",
    .doc = "Adds bias[c] to every element of channel c.\n\n"
           "The channels are the last axis, or axis 1 with data_format \"NCHW\".",
    .inputs = {{"value", "T"}, {"bias", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", numbers}, {"data_format", "NHWC"}},
    .effects = effect::forwardable | effect::autocast_infer | effect::adds,
    .infer = infer_bias_add,
    .gradient = bias_add_gradient,
    .simplify = simplify,
    .example = R"(
x = Placeholder dtype=f32 shape=[-1,2]
y = BiasAdd(x, f32[10, 20])
feed x = f32[[1, 2], [3, 4]]
fetch y = f32[[11, 22], [13, 24]]
)",
};

extern constexpr op_def bias_add_grad{
    .name = "BiasAddGrad",
    .doc = "Sums the gradients of each channel.",
    .inputs = {{"out_backprop", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", numbers}, {"data_format", "NHWC"}},
    .infer = infer_bias_add_grad,
    .gradient = bias_add_grad_gradient,
    .example = R"(
dy = Placeholder dtype=f32 shape=[-1,2]
db = BiasAddGrad(dy)
feed dy = f32[[1, 2], [3, 4], [5, 6]]
fetch db = f32[9, 12]
)",
};

} // namespace troupe::ops::bias_add_op
