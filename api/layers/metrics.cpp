#include "troupe/api/layers/metrics.hpp"
// Adds the nodes and local variables of metrics.

#include "troupe/api/internal/reject.hpp"
#include "troupe/api/layers/labels.hpp"
#include "troupe/api/operators.hpp"

#include <algorithm>

namespace troupe::metrics {
namespace {

// Counters that accumulate over steps.
class counters {
public:
  counters(graph_builder& in, std::string_view name, location where)
      : in_(in), scope_(in.scope(name, where)), where_(where) {}

  // Adds a counter that begins at zeros and grows by `amount` in each update.
  variable_handle add(edge amount, const tensor& zeros, std::string_view name) {
    auto counter = in_.local_variable(zeros, name, where_);
    updates_.push_back(assign_add(counter, amount, {}, where_).node);
    resets_.push_back(assign(counter, counter.initializer->inputs()[1], {}, where_).node);
    return counter;
  }
  variable_handle add(edge amount, std::string_view name) {
    return add(cast(amount, dtype::f64, {}, where_), tensor::scalar(0.0), name);
  }
  metric finish(edge value) {
    return {value, in_.group(updates_, "update", where_), in_.group(resets_, "reset", where_)};
  }

private:
  graph_builder& in_;
  graph_scope scope_;
  location where_;
  std::vector<node*> updates_, resets_;
};

// Fails the step if a class is outside of [0, classes), because it would count in another cell.
node* check_classes(graph_builder& in, edge predictions, edge labels, int64_t classes,
                    location where) {
  auto in_range = [&](edge values) {
    return logical_and(greater_equal(values, int64_t{0}, {}, where),
                       less(values, classes, {}, where), {}, where);
  };
  auto valid = logical_and(in_range(labels), in_range(predictions), {}, where);
  auto text = in.constant(tensor::scalar(concat(
      "confusion_matrix: labels and predictions must be at least 0 and less than ", classes)));
  return assert_(all(reshape(valid, {-1}, {}, where), {0}, {}, where), {text, predictions, labels},
                 {}, where);
}

edge ratio(edge numerator, edge denominator, location where) {
  return div(numerator, maximum(denominator, 1.0, {}, where), {}, where);
}

edge as_count(edge booleans, location where) { return cast(booleans, dtype::f64, {}, where); }

metric mean_of(graph_builder& in, edge values, std::string_view name, location where) {
  counters sums{in, name, where};
  auto total = sums.add(sum(cast(values, dtype::f64, {}, where), where), "total");
  auto count = sums.add(size_of(values, {}, {}, where), "count");
  return sums.finish(ratio(total, count, where));
}

// Returns predictions and labels as booleans of the predictions' shape.
std::pair<edge, edge> as_booleans(edge predictions, const operand& labels, location where) {
  auto predicted = truth_of({predictions, where}, predictions, where).source();
  auto actual =
      logical_and(truth_of(labels, predictions, where), ones_like(predicted, {}, where), {}, where);
  return {predicted, actual};
}

// The share of the elements of `among` that are also in `positive`.
metric hit_rate(graph_builder& in, edge positive, edge among, std::string_view name,
                location where) {
  counters sums{in, name, where};
  auto both_true = logical_and(positive, among, {}, where);
  auto hits = sums.add(sum(as_count(both_true, where), where), "hits");
  auto count = sums.add(sum(as_count(among, where), where), "count");
  return sums.finish(ratio(hits, count, where));
}

} // namespace

metric mean(graph_builder& in, edge values, location where) {
  return mean_of(in, values, "mean", where);
}

metric accuracy(graph_builder& in, edge predictions, operand labels, location where) {
  operand comparable{predictions, where};
  make_comparable(comparable, labels, where);
  return mean_of(in, equal(comparable, labels, {}, where), "accuracy", where);
}

metric top_k_accuracy(graph_builder& in, edge predictions, operand labels, int k, location where) {
  if (k < 1)
    reject("top_k_accuracy", where, "k must be 1 or more, got ", k);
  auto scores =
      predictions.type() == dtype::f32 ? predictions : cast(predictions, dtype::f32, {}, where);
  return mean_of(in, in_top_k(scores, labels, k, {}, where), "top_k_accuracy", where);
}

metric precision(graph_builder& in, edge predictions, operand labels, location where) {
  auto [predicted, actual] = as_booleans(predictions, labels, where);
  return hit_rate(in, actual, predicted, "precision", where);
}

metric recall(graph_builder& in, edge predictions, operand labels, location where) {
  auto [predicted, actual] = as_booleans(predictions, labels, where);
  return hit_rate(in, predicted, actual, "recall", where);
}

metric mean_squared_error(graph_builder& in, edge predictions, operand goals, location where) {
  auto targets = cast_labels(goals, predictions.type(), predictions, where);
  return mean_of(in, squared_difference(predictions, targets, {}, where), "mean_squared_error",
                 where);
}

metric auc(graph_builder& in, edge scores, operand labels, int thresholds, location where) {
  if (thresholds < 2)
    reject("auc", where, "needs 2 thresholds or more, got ", thresholds);
  // A row for each threshold: the first is below all scores, the last above all.
  std::vector<float> limits{-1e-7f};
  for (int i = 1; i < thresholds - 1; ++i)
    limits.push_back(static_cast<float>(i) / static_cast<float>(thresholds - 1));
  limits.push_back(1 + 1e-7f);
  counters sums{in, "auc", where};
  auto rows = static_cast<int64_t>(limits.size());
  auto column = tensor::from_values({rows, 1}, limits);
  auto flat = reshape(cast(scores, dtype::f32, {}, where), {1, -1}, {}, where);
  auto above = as_count(greater(flat, column, {}, where), where);
  auto actual =
      logical_and(truth_of(labels, scores, where),
                  ones_like(cast(scores, dtype::boolean, {}, where), {}, where), {}, where);
  auto positive = reshape(as_count(actual, where), {1, -1}, {}, where);
  auto zeros = *tensor::make(dtype::f64, shape{rows});
  std::fill_n(zeros.data<double>(), rows, 0.0);
  auto count = [&](edge weight, std::string_view name) {
    return sums.add(sum(mul(above, weight, {}, where), {1}, {}, {}, where), zeros, name);
  };
  auto true_positives = count(positive, "true_positives");
  auto false_positives = count(sub(1.0, positive, {}, where), "false_positives");
  // The first row has the total counts.
  auto share = [&](edge counts) {
    return ratio(counts, slice(counts, {0}, {1}, {}, where), where);
  };
  auto y = share(true_positives), x = share(false_positives);
  auto part_from = [&](edge values, int64_t begin) {
    return slice(values, {begin}, {rows - 1}, {}, where);
  };
  auto width = sub(part_from(x, 0), part_from(x, 1), {}, where);
  auto height = mul(add(part_from(y, 0), part_from(y, 1), {}, where), 0.5, {}, where);
  return sums.finish(sum(mul(width, height, {}, where), where));
}

metric confusion_matrix(graph_builder& in, edge predictions, edge labels, int64_t classes,
                        location where) {
  if (classes < 1)
    reject("confusion_matrix", where, "needs at least one class, got ", classes);
  counters sums{in, "confusion_matrix", where};
  auto row_class = cast(labels, dtype::i64, {}, where);
  auto column_class = cast(predictions, dtype::i64, {}, where);
  auto cell = [&] {
    auto checked = in.after({check_classes(in, column_class, row_class, classes, where)}, where);
    return add(mul(row_class, classes, {}, where), column_class, {}, where);
  }();
  auto flat = reshape(cell, {-1}, {}, where);
  auto ones = ones_like(flat, {}, where);
  auto counts = unsorted_segment_sum(ones, flat, classes * classes, {}, where);
  auto zeros = *tensor::make(dtype::i64, shape{classes, classes});
  std::fill_n(zeros.data<int64_t>(), classes * classes, int64_t{0});
  auto matrix = sums.add(reshape(counts, {classes, classes}, {}, where), zeros, "counts");
  return sums.finish(matrix);
}

} // namespace troupe::metrics
