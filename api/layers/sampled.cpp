#include "troupe/api/layers/sampled.hpp"

#include "troupe/api/internal/reject.hpp"
#include "troupe/api/layers/losses.hpp"
#include "troupe/api/operators.hpp"

#include <limits>

namespace troupe {
namespace {

using location = std::source_location;

struct contrast {
  edge right; // [batch, 1]: the logit of the right class
  edge wrong; // [batch, sampled]: those of the samples
};

edge column(edge x, location where) { return reshape(x, {-1, 1}, {}, where); }

// Logits less the logarithm of how often a class is sampled: otherwise frequent classes, which are
// often compared with, would be held down.
contrast compare(const embedding_table& weights, edge biases, edge inputs, operand labels,
                 const sampling_options& options, location where) {
  need_edge("sampled loss", where, biases, "biases");
  need_edge("sampled loss", where, inputs, "inputs");
  auto truth = column(cast(labels, dtype::i64, {}, where), where);
  auto drawn = options.from;
  if (!drawn) {
    auto made = log_uniform_candidate_sampler(truth.node->graph(), truth, 1, options.sampled, true,
                                              weights.rows(), {.seed = options.seed}, {}, where);
    drawn =
        candidates{made.sampled_candidates, made.true_expected_count, made.sampled_expected_count};
  }
  auto type = inputs.type();
  auto less = [&](edge logits, edge expected) {
    return sub(logits, cast(log(expected, {}, where), type, {}, where), {}, where);
  };
  auto of_truth = reshape(weights(truth, where), {int64_t{-1}, weights.width()}, {}, where);
  auto right = add(sum(mul(inputs, of_truth, {}, where), {1}, {.keep_dims = true}, {}, where),
                   gather(biases, truth, {}, {}, where), {}, where);
  auto wrong = add(matmul(inputs, weights(drawn->sampled, where), {.transpose_b = true}, {}, where),
                   gather(biases, drawn->sampled, {}, {}, where), {}, where);
  contrast found{less(right, drawn->expected_true), less(wrong, drawn->expected_sampled)};
  if (options.skip_hits) {
    auto hit = cast(troupe::equal(truth, drawn->sampled, {}, where), type, {}, where);
    auto low = type == dtype::f16 ? -6e4 : -1e30;
    found.wrong = add(found.wrong, mul(hit, low, {}, where), {}, where);
  }
  return found;
}

} // namespace

edge nce_loss(const embedding_table& weights, edge biases, edge inputs, operand labels,
              const sampling_options& options, location where) {
  auto [right, wrong] = compare(weights, biases, inputs, labels, options, where);
  auto as_right = sigmoid_cross_entropy(right, ones_like(right, {}, where), where);
  auto as_wrong = sigmoid_cross_entropy(wrong, zeros_like(wrong, {}, where), where);
  return add(sum(as_right, {1}, {}, {}, where), sum(as_wrong, {1}, {}, {}, where), {}, where);
}

edge sampled_softmax_loss(const embedding_table& weights, edge biases, edge inputs, operand labels,
                          const sampling_options& options, location where) {
  auto [right, wrong] = compare(weights, biases, inputs, labels, options, where);
  auto logits = concatenate({right, wrong}, 1, {}, where);
  auto first = reshape(zeros_like(cast(right, dtype::i32, {}, where), {}, where), {-1}, {}, where);
  return sparse_softmax_cross_entropy_with_logits(logits, first, {}, where).loss;
}

} // namespace troupe
