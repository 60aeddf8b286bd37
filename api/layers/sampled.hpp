// Sampled losses over very many classes, which evaluate only a sample of the wrong classes.
#pragma once
#include "troupe/api/layers/embedding.hpp"
#include "troupe/runtime/export.hpp"

#include <optional>

namespace troupe {

/// Candidates, and the expected counts of them and of each true class.
struct candidates {
  edge sampled;          ///< i64 [count]
  edge expected_true;    ///< f32 [batch, true classes]
  edge expected_sampled; ///< f32 [count]
};

struct sampling_options {
  int64_t sampled = 64; ///< number of sampled classes, shared by the whole batch
  int64_t seed = 0;
  /// The sampled classes. Empty: drawn by Zipf's law, without repetition, for classes that are
  /// numbered by decreasing frequency.
  std::optional<candidates> sampled_values = {};
  bool skip_hits = true; ///< drops samples that equal the correct class
};

/// Noise-contrastive estimation (Gutmann and Hyvarinen 2010): distinguishes the correct class from
/// each sample. `weights` has a row for each class, `biases` are [classes]; inputs [batch, width],
/// labels [batch]. Returns one loss for each row. For training only: evaluate with all classes.
TROUPE_API edge nce_loss(const embedding_table& weights, edge biases, edge inputs, operand labels,
                         const sampling_options& options = {},
                         std::source_location where = std::source_location::current());

/// Softmax over the correct class and the samples (Jean et al. 2015). Returns one loss for each
/// row.
TROUPE_API edge sampled_softmax_loss(const embedding_table& weights, edge biases, edge inputs,
                                     operand labels, const sampling_options& options = {},
                                     std::source_location where = std::source_location::current());

} // namespace troupe
