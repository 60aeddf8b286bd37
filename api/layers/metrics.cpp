#include "troupe/api/layers/metrics.hpp"

#include "troupe/api/internal/reject.hpp"
#include "troupe/api/layers/labels.hpp"
#include "troupe/api/operators.hpp"

#include <algorithm>

namespace troupe::metrics {
namespace {

// Sums, kept from step to step.
class tally {
public:
  tally(graph_builder& in, std::string_view name, location where)
      : in_(in), scope_(in.scope(name, where)), where_(where) {}

  // Begins at zeros and grows by `amount` in each update.
  variable_handle count(edge amount, const tensor& zeros, std::string_view name) {
    auto made = in_.local_variable(zeros, name, where_);
    updates_.push_back(assign_add(made, amount, {}, where_).node);
    resets_.push_back(assign(made, made.initializer->inputs()[1], {}, where_).node);
    return made;
  }
  variable_handle count(edge amount, std::string_view name) {
    return count(cast(amount, dtype::f64, {}, where_), tensor::scalar(0.0), name);
  }
  metric of(edge value) {
    return {value, in_.group(updates_, "update", where_), in_.group(resets_, "reset", where_)};
  }

private:
  graph_builder& in_;
  graph_scope scope_;
  location where_;
  std::vector<node*> updates_, resets_;
};

edge ratio(edge part, edge whole, location where) {
  return div(part, maximum(whole, 1.0, {}, where), {}, where);
}

edge as_count(edge truth, location where) { return cast(truth, dtype::f64, {}, where); }

metric mean_of(graph_builder& in, edge values, std::string_view name, location where) {
  tally all{in, name, where};
  auto total = all.count(sum(cast(values, dtype::f64, {}, where), where), "total");
  auto count = all.count(size_of(values, {}, {}, where), "count");
  return all.of(ratio(total, count, where));
}

// Predictions and labels as truth values of the predictions' shape.
std::pair<edge, edge> truths(edge predictions, const operand& labels, location where) {
  auto found = truth_of({predictions, where}, predictions, where).from();
  auto truth =
      logical_and(truth_of(labels, predictions, where), ones_like(found, {}, where), {}, where);
  return {found, truth};
}

metric hits(graph_builder& in, edge right, edge among, std::string_view name, location where) {
  tally all{in, name, where};
  auto both = logical_and(right, among, {}, where);
  auto part = all.count(sum(as_count(both, where), where), "hits");
  auto whole = all.count(sum(as_count(among, where), where), "count");
  return all.of(ratio(part, whole, where));
}

} // namespace

metric mean(graph_builder& in, edge values, location where) {
  return mean_of(in, values, "mean", where);
}

metric accuracy(graph_builder& in, edge predictions, operand labels, location where) {
  operand found{predictions, where};
  make_comparable(found, labels, where);
  return mean_of(in, equal(found, labels, {}, where), "accuracy", where);
}

metric top_k_accuracy(graph_builder& in, edge predictions, operand labels, int k, location where) {
  if (k < 1)
    reject("top_k_accuracy", where, "k must be 1 or more, got ", k);
  auto scores =
      predictions.type() == dtype::f32 ? predictions : cast(predictions, dtype::f32, {}, where);
  return mean_of(in, in_top_k(scores, labels, k, {}, where), "top_k_accuracy", where);
}

metric precision(graph_builder& in, edge predictions, operand labels, location where) {
  auto [found, truth] = truths(predictions, labels, where);
  return hits(in, truth, found, "precision", where);
}

metric recall(graph_builder& in, edge predictions, operand labels, location where) {
  auto [found, truth] = truths(predictions, labels, where);
  return hits(in, found, truth, "recall", where);
}

metric mean_squared_error(graph_builder& in, edge predictions, operand wanted, location where) {
  auto goal = cast_labels(wanted, predictions.type(), predictions, where);
  return mean_of(in, squared_difference(predictions, goal, {}, where), "mean_squared_error", where);
}

metric auc(graph_builder& in, edge scores, operand labels, int thresholds, location where) {
  if (thresholds < 2)
    reject("auc", where, "needs 2 thresholds or more, got ", thresholds);
  // A row for each threshold: below all, evenly between, above all.
  std::vector<float> limits{-1e-7f};
  for (int i = 1; i < thresholds - 1; ++i)
    limits.push_back(static_cast<float>(i) / static_cast<float>(thresholds - 1));
  limits.push_back(1 + 1e-7f);
  tally all{in, "auc", where};
  auto rows = static_cast<int64_t>(limits.size());
  auto column = tensor::of({rows, 1}, limits);
  auto flat = reshape(cast(scores, dtype::f32, {}, where), {1, -1}, {}, where);
  auto above = as_count(greater(flat, column, {}, where), where);
  auto truth =
      logical_and(truth_of(labels, scores, where),
                  ones_like(cast(scores, dtype::boolean, {}, where), {}, where), {}, where);
  auto positive = reshape(as_count(truth, where), {1, -1}, {}, where);
  auto zeros = *tensor::make(dtype::f64, shape{rows});
  std::fill_n(zeros.data<double>(), rows, 0.0);
  auto count = [&](edge weight, std::string_view name) {
    return all.count(sum(mul(above, weight, {}, where), {1}, {}, {}, where), zeros, name);
  };
  auto hit = count(positive, "true_positives");
  auto miss = count(sub(1.0, positive, {}, where), "false_positives");
  // The first row counts all.
  auto share = [&](edge counts) {
    return ratio(counts, slice(counts, {0}, {1}, {}, where), where);
  };
  auto y = share(hit), x = share(miss);
  auto from = [&](edge of, int64_t begin) { return slice(of, {begin}, {rows - 1}, {}, where); };
  auto width = sub(from(x, 0), from(x, 1), {}, where);
  auto height = mul(add(from(y, 0), from(y, 1), {}, where), 0.5, {}, where);
  return all.of(sum(mul(width, height, {}, where), where));
}

metric confusion_matrix(graph_builder& in, edge predictions, edge labels, int64_t classes,
                        location where) {
  if (classes < 1)
    reject("confusion_matrix", where, "needs a class at least, got ", classes);
  tally all{in, "confusion_matrix", where};
  auto row = mul(cast(labels, dtype::i64, {}, where), classes, {}, where);
  auto cell = add(row, cast(predictions, dtype::i64, {}, where), {}, where);
  auto flat = reshape(cell, {-1}, {}, where);
  auto ones = ones_like(flat, {}, where);
  auto counts = unsorted_segment_sum(ones, flat, classes * classes, {}, where);
  auto zeros = *tensor::make(dtype::i64, shape{classes, classes});
  std::fill_n(zeros.data<int64_t>(), classes * classes, int64_t{0});
  auto found = all.count(reshape(counts, {classes, classes}, {}, where), zeros, "counts");
  return all.of(found);
}

} // namespace troupe::metrics
