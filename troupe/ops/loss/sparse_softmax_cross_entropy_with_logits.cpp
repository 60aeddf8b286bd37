// SparseSoftmaxCrossEntropyWithLogits: the loss of a classifier whose labels are class numbers.
#include "troupe/ops/loss/shared/cross_entropy.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::sparse_softmax_cross_entropy_with_logits_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto features, at.of_rank(0, 2));
  TROUPE_ASSIGN(auto labels, at.of_rank(1, 1));
  auto rows = merge(partial_shape{features[0]}, labels);
  if (!rows)
    return at.invalid("labels must have one element for each row of features, got ", labels,
                      " for ", features);
  features.set(0, (*rows)[0]);
  return shapes{*rows, features};
}

edges gradient(gradient_context& at) { return {logits_gradient(at), {}}; }

} // namespace

extern constexpr op_def sparse_softmax_cross_entropy_with_logits{
    .name = "SparseSoftmaxCrossEntropyWithLogits",
    .doc = "Computes the cross entropy between the softmax of each row of features and the class "
           "that its label numbers.\n\n"
           "The second output is the gradient of the loss with respect to the features. A label "
           "outside [0, classes) is an error.",
    .inputs = {{"features", "T"}, {"labels", "Tlabels"}},
    .outputs = {{"loss", "T"}, {"backprop", "T"}},
    .attrs = {{"T", floating}, {"Tlabels", index_types, dtype::i64}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
x = Placeholder dtype=f64 shape=[-1,2]
loss = SparseSoftmaxCrossEntropyWithLogits(x, i64[0, 1])
feed x = f64[[0, 0], [0, 1.0986122886681098]]
fetch loss = f64[0.6931471805599453, 0.28768207245178085]
fetch loss:1 = f64[[-0.5, 0.5], [0.25, -0.25]]
)",
};

} // namespace troupe::ops::sparse_softmax_cross_entropy_with_logits_op
