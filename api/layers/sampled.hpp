// Losses over very many classes, which look at a sample of the wrong ones only.
#pragma once
#include "troupe/api/layers/embedding.hpp"
#include "troupe/runtime/export.hpp"

#include <optional>

namespace troupe {

/// Candidates, and how often each and each true class is expected among them.
struct candidates {
  edge sampled;          ///< i64 [count]
  edge expected_true;    ///< f32 [batch, true classes]
  edge expected_sampled; ///< f32 [count]
};

struct sampling_options {
  int64_t sampled = 64; ///< how many wrong classes to look at, the same for a whole batch
  int64_t seed = 0;
  /// By default drawn by Zipf's law, without repetition: classes must be numbered from the most
  /// frequent on.
  std::optional<candidates> from = {};
  bool skip_hits = true; ///< leaves out samples that happen to be the right class
};

/// Noise-contrastive estimation (Gutmann and Hyvarinen 2010): tells the right class from samples,
/// one by one. `weights` has a row for each class, `biases` [classes] too; inputs [batch, width],
/// labels [batch]. One loss for each row. For training only: evaluate with all classes.
TROUPE_API edge nce_loss(const embedding_table& weights, edge biases, edge inputs, operand labels,
                         const sampling_options& options = {},
                         std::source_location where = std::source_location::current());

/// Softmax among the right class and the samples (Jean et al. 2015). One loss for each row.
TROUPE_API edge sampled_softmax_loss(const embedding_table& weights, edge biases, edge inputs,
                                     operand labels, const sampling_options& options = {},
                                     std::source_location where = std::source_location::current());

} // namespace troupe
