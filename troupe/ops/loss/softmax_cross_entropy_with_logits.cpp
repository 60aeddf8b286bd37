// SoftmaxCrossEntropyWithLogits: the loss of a classifier whose labels are probabilities.
#include "troupe/ops/loss/shared/cross_entropy.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::softmax_cross_entropy_with_logits_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto features, at.of_rank(0, 2));
  TROUPE_ASSIGN(auto labels, at.of_rank(1, 2));
  auto joint = merge(features, labels);
  if (!joint)
    return at.invalid("features and labels must have the same shape, got ", features, " and ",
                      labels);
  return shapes{partial_shape{(*joint)[0]}, *joint};
}

edges gradient(gradient_context& at) {
  edge labels;
  if (at.has_output_gradient(0))
    labels = scale_rows(-at.output_gradient(0), at.op("LogSoftmax", {at.input(0)}));
  if (at.has_output_gradient(1)) // backprop = softmax(features) - labels
    labels = labels ? labels - at.output_gradient(1) : -at.output_gradient(1);
  return {logits_gradient(at), labels};
}

} // namespace

extern constexpr op_def softmax_cross_entropy_with_logits{
    .name = "SoftmaxCrossEntropyWithLogits",
    .doc = "Computes the cross entropy between each row of labels and the softmax of that row of "
           "features.\n\n"
           "Each row of labels must be a probability distribution for the second output to be the "
           "gradient of the loss with respect to the features.",
    .inputs = {{"features", "T"}, {"labels", "T"}},
    .outputs = {{"loss", "T"}, {"backprop", "T"}},
    .attrs = {{"T", floating}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
x = Placeholder dtype=f64 shape=[-1,2]
loss = SoftmaxCrossEntropyWithLogits(x, f64[[0.5, 0.5], [0, 1]])
feed x = f64[[0, 0], [0, 1.0986122886681098]]
fetch loss = f64[0.6931471805599453, 0.28768207245178085]
fetch loss:1 = f64[[0, 0], [0.25, -0.25]]
)",
};

} // namespace troupe::ops::softmax_cross_entropy_with_logits_op
