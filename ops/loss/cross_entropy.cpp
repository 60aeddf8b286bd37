// Cross entropy of softmax, with probabilities or class numbers as labels.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::cross_entropy_op {
namespace {

// Multiplies each row of a matrix by the element of a vector.
edge scale_rows(edge factors, edge matrix) {
  auto column = build("ExpandDims", {factors, constant_like(factors, tensor::scalar(int32_t{-1}))});
  return column * matrix;
}

// Output 1 already is d(loss)/d(logits). Where that output itself is differentiated (second
// derivatives), the Hessian of the loss acts on its gradient g: (g - sum(g * p)) * p.
edge logits_gradient(gradient_context& at) {
  edge first, second;
  if (at.has_output_gradient(0))
    first = scale_rows(at.output_gradient(0), at.output(1));
  if (at.has_output_gradient(1)) {
    auto g = at.output_gradient(1), p = at.op("Softmax", {at.input(0)});
    second = (g - sum_last(g * p)) * p;
  }
  return first && second ? first + second : first ? first : second;
}

result<shapes> infer_softmax_cross_entropy_with_logits(const infer_context& at) {
  TROUPE_ASSIGN(auto features, at.of_rank(0, 2));
  TROUPE_ASSIGN(auto labels, at.of_rank(1, 2));
  auto joint = merge(features, labels);
  if (!joint)
    return at.invalid("features and labels must have the same shape, got ", features, " and ",
                      labels);
  return shapes{partial_shape{(*joint)[0]}, *joint};
}

edges softmax_cross_entropy_with_logits_gradient(gradient_context& at) {
  edge labels;
  if (at.has_output_gradient(0))
    labels = scale_rows(-at.output_gradient(0), at.op("LogSoftmax", {at.input(0)}));
  if (at.has_output_gradient(1)) // backprop = softmax(features) - labels
    labels = labels ? labels - at.output_gradient(1) : -at.output_gradient(1);
  return {logits_gradient(at), labels};
}

result<shapes> infer_sparse_softmax_cross_entropy_with_logits(const infer_context& at) {
  TROUPE_ASSIGN(auto features, at.of_rank(0, 2));
  TROUPE_ASSIGN(auto labels, at.of_rank(1, 1));
  auto rows = merge(partial_shape{features[0]}, labels);
  if (!rows)
    return at.invalid("labels must have one element for each row of features, got ", labels,
                      " for ", features);
  features.set(0, (*rows)[0]);
  return shapes{*rows, features};
}

edges sparse_softmax_cross_entropy_with_logits_gradient(gradient_context& at) {
  return {logits_gradient(at), {}};
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
    .infer = infer_softmax_cross_entropy_with_logits,
    .gradient = softmax_cross_entropy_with_logits_gradient,
    .example = R"(
x = Placeholder dtype=f64 shape=[-1,2]
loss = SoftmaxCrossEntropyWithLogits(x, f64[[0.5, 0.5], [0, 1]])
feed x = f64[[0, 0], [0, 1.0986122886681098]]
fetch loss = f64[0.6931471805599453, 0.28768207245178085]
fetch loss:1 = f64[[0, 0], [0.25, -0.25]]
)",
};

extern constexpr op_def sparse_softmax_cross_entropy_with_logits{
    .name = "SparseSoftmaxCrossEntropyWithLogits",
    .doc = "Computes the cross entropy between the softmax of each row of features and the class "
           "that its label numbers.\n\n"
           "The second output is the gradient of the loss with respect to the features. A label "
           "outside [0, classes) is an error.",
    .inputs = {{"features", "T"}, {"labels", "Tlabels"}},
    .outputs = {{"loss", "T"}, {"backprop", "T"}},
    .attrs = {{"T", floating}, {"Tlabels", index_types, dtype::i64}},
    .infer = infer_sparse_softmax_cross_entropy_with_logits,
    .gradient = sparse_softmax_cross_entropy_with_logits_gradient,
    .example = R"(
x = Placeholder dtype=f64 shape=[-1,2]
loss = SparseSoftmaxCrossEntropyWithLogits(x, i64[0, 1])
feed x = f64[[0, 0], [0, 1.0986122886681098]]
fetch loss = f64[0.6931471805599453, 0.28768207245178085]
fetch loss:1 = f64[[-0.5, 0.5], [0.25, -0.25]]
)",
};

} // namespace troupe::ops::cross_entropy_op
