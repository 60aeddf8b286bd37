#include "troupe/api/layers/sampled.hpp"
// Adds the nodes of sampled losses.

#include "troupe/api/internal/reject.hpp"
#include "troupe/api/layers/losses.hpp"
#include "troupe/api/operators.hpp"

#include <limits>

namespace troupe {
namespace {

using location = std::source_location;

struct sampled_logits {
  edge correct; // [batch, 1]: of the correct class
  edge wrong;   // [batch, sampled]: of the samples
};

edge column(edge x, location where) { return reshape(x, {-1, 1}, {}, where); }

// Returns logits minus the logarithm of the expected count of their class. Without this correction,
// frequently sampled classes would be suppressed.
sampled_logits logits_of(const embedding_table& weights, edge biases, edge inputs, operand labels,
                         const sampling_options& options, location where) {
  need_edge("sampled loss", where, biases, "biases");
  need_edge("sampled loss", where, inputs, "inputs");
  auto true_classes = column(cast(labels, dtype::i64, {}, where), where);
  auto drawn = options.sampled_values;
  if (!drawn) {
    auto sample =
        log_uniform_candidate_sampler(true_classes.node->graph(), true_classes, 1, options.sampled,
                                      true, weights.rows(), {.seed = options.seed}, {}, where);
    drawn = candidates{sample.sampled_candidates, sample.true_expected_count,
                       sample.sampled_expected_count};
  }
  auto type = inputs.type();
  auto corrected = [&](edge logits, edge expected) {
    return sub(logits, cast(log(expected, {}, where), type, {}, where), {}, where);
  };
  auto true_weights =
      reshape(weights(true_classes, where), {int64_t{-1}, weights.width()}, {}, where);
  auto correct = add(sum(mul(inputs, true_weights, {}, where), {1}, {.keep_dims = true}, {}, where),
                     gather(biases, true_classes, {}, {}, where), {}, where);
  auto wrong = add(matmul(inputs, weights(drawn->sampled, where), {.transpose_b = true}, {}, where),
                   gather(biases, drawn->sampled, {}, {}, where), {}, where);
  sampled_logits logits{corrected(correct, drawn->expected_true),
                        corrected(wrong, drawn->expected_sampled)};
  if (options.skip_hits) {
    auto is_hit = cast(troupe::equal(true_classes, drawn->sampled, {}, where), type, {}, where);
    auto low = type == dtype::f16 ? -6e4 : -1e30;
    logits.wrong = add(logits.wrong, mul(is_hit, low, {}, where), {}, where);
  }
  return logits;
}

} // namespace

edge nce_loss(const embedding_table& weights, edge biases, edge inputs, operand labels,
              const sampling_options& options, location where) {
  auto [correct, wrong] = logits_of(weights, biases, inputs, labels, options, where);
  auto correct_loss = sigmoid_cross_entropy(correct, ones_like(correct, {}, where), where);
  auto wrong_loss = sigmoid_cross_entropy(wrong, zeros_like(wrong, {}, where), where);
  return add(sum(correct_loss, {1}, {}, {}, where), sum(wrong_loss, {1}, {}, {}, where), {}, where);
}

edge sampled_softmax_loss(const embedding_table& weights, edge biases, edge inputs, operand labels,
                          const sampling_options& options, location where) {
  auto [correct, wrong] = logits_of(weights, biases, inputs, labels, options, where);
  auto logits = concatenate({correct, wrong}, 1, {}, where);
  auto correct_class =
      reshape(zeros_like(cast(correct, dtype::i32, {}, where), {}, where), {-1}, {}, where);
  return sparse_softmax_cross_entropy_with_logits(logits, correct_class, {}, where).loss;
}

} // namespace troupe
