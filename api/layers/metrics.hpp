// Metrics: what is counted over many steps, in local variables of their own.
//
// Labels are what the losses take: i32 and i64 alike, whatever whole numbers the predictions are,
// such as those of arg_max(), which are i64. Truth values may be bool, or whole numbers of which 0
// is false. Scores and predicted numbers are of any floating type.
#pragma once
#include "troupe/api/graph_builder.hpp"
#include "troupe/runtime/export.hpp"

namespace troupe {

/// Run `update` with each batch, fetch `value` when done, and run `reset` before the next round.
/// The first round needs none: counters begin with zeros (graph_builder::local_variable()).
/// Checkpoints do not have them.
struct metric {
  edge value; ///< an f64 scalar, for to_scalar<double>(); of confusion_matrix() i64
  node* update = nullptr;
  node* reset = nullptr;
};

namespace metrics {

using location = std::source_location;

/// The mean of all values so far, which are numbers or truth values; 0 before there are any.
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

/// Of what was predicted, truth values, the share that is true; of what is true, the share that was
/// predicted. 0 where there is none.
TROUPE_API metric precision(graph_builder& in, edge predictions, operand labels,
                            location where = location::current());
TROUPE_API metric recall(graph_builder& in, edge predictions, operand labels,
                         location where = location::current());

TROUPE_API metric mean_squared_error(graph_builder& in, edge predictions, operand wanted,
                                     location where = location::current());

/// The area under the curve of true against false positives, for scores in [0, 1] and truth values,
/// by trapezoids between `thresholds` evenly spaced ones.
TROUPE_API metric auc(graph_builder& in, edge scores, operand labels, int thresholds = 200,
                      location where = location::current());

/// How often class i (row) was taken for class j (column), so far: i64 [classes, classes]. Labels
/// and predictions are whole numbers of any type.
TROUPE_API metric confusion_matrix(graph_builder& in, edge predictions, edge labels,
                                   int64_t classes, location where = location::current());

} // namespace metrics
} // namespace troupe
