// Metrics: values that are accumulated over many steps, in local variables.
//
// Labels are those of the losses: i32 or i64, with predictions of any integer type, such as those
// of arg_max(), which are i64. Booleans may be bool, or integers of which 0 is false. Scores and
// predicted numbers are of any floating type.
#pragma once
#include "troupe/api/graph_builder.hpp"
#include "troupe/runtime/export.hpp"

namespace troupe {

/// Run `update` with each batch, fetch `value` at the end, and run `reset` before the next round.
/// The first round needs no reset: counters begin with zeros (graph_builder::local_variable()).
/// Checkpoints do not include them.
struct metric {
  edge value; ///< an f64 scalar, for to_scalar<double>(); of confusion_matrix() i64
  node* update = nullptr;
  node* reset = nullptr;
};

namespace metrics {

using location = std::source_location;

/// The mean of all values so far, which are numbers or booleans; 0 if there are none.
TROUPE_API metric mean(graph_builder& in, edge values, location where = location::current());

/// The share of predictions that equal their label:
///
///     auto right = metrics::accuracy(g, arg_max(logits, -1), labels);
TROUPE_API metric accuracy(graph_builder& in, edge predictions, operand labels,
                           location where = location::current());

/// The share of rows whose label, i32 or i64, is among the k largest of their predictions
/// [batch, classes].
TROUPE_API metric top_k_accuracy(graph_builder& in, edge predictions, operand labels, int k,
                                 location where = location::current());

/// Precision: the share of positive predictions that are true. Recall: the share of true labels
/// that were predicted. Both take booleans, and are 0 for an empty denominator.
TROUPE_API metric precision(graph_builder& in, edge predictions, operand labels,
                            location where = location::current());
TROUPE_API metric recall(graph_builder& in, edge predictions, operand labels,
                         location where = location::current());

TROUPE_API metric mean_squared_error(graph_builder& in, edge predictions, operand goals,
                                     location where = location::current());

/// The area under the ROC curve (true against false positives), for scores in [0, 1] and boolean
/// labels. It is integrated by the trapezoidal rule between `thresholds` evenly spaced thresholds.
TROUPE_API metric auc(graph_builder& in, edge scores, operand labels, int thresholds = 200,
                      location where = location::current());

/// The number of times that class i (row) was predicted as class j (column), so far: i64 [classes,
/// classes]. Labels and predictions are integers of any type; the update fails with
/// `invalid_argument` if one is not in [0, classes).
TROUPE_API metric confusion_matrix(graph_builder& in, edge predictions, edge labels,
                                   int64_t classes, location where = location::current());

} // namespace metrics
} // namespace troupe
