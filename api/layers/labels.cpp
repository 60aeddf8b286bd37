#include "troupe/api/layers/labels.hpp"
// Casts labels to the types that losses and metrics compute in.

#include "troupe/api/generated/ops.hpp"

namespace troupe {
namespace {

constexpr auto countable = integers | one_of(dtype::boolean);

dtype type_of(const operand& labels) {
  if (!labels.is_edge())
    return labels.literal() ? dtype::none : labels.value().type();
  return labels.source().is_empty() ? dtype::none : labels.source().type();
}

edge in_type(const operand& labels, dtype type, edge beside, std::source_location where) {
  auto from = labels.is_edge()
                  ? labels.source()
                  : detail::add_node(beside.node ? &beside.node->graph() : nullptr, "Const", {},
                                     {{"dtype", labels.value().type()}, {"value", labels.value()}},
                                     {}, where)
                        .output(0);
  return cast(from, type, {}, where);
}

} // namespace

operand cast_labels(const operand& labels, dtype type, edge beside, std::source_location where) {
  auto from = type_of(labels);
  if (from == type || !countable.contains(from))
    return labels;
  return {in_type(labels, type, beside, where), where};
}

operand truth_of(const operand& labels, edge beside, std::source_location where) {
  return integers.contains(type_of(labels)) ? cast_labels(labels, dtype::boolean, beside, where)
                                            : labels;
}

void make_comparable(operand& predictions, operand& labels, std::source_location where) {
  auto x = type_of(predictions), y = type_of(labels);
  if (x == y || !countable.contains(x) || !countable.contains(y))
    return;
  auto beside = predictions.is_edge() ? predictions.source() : labels.source();
  predictions = cast_labels(predictions, dtype::i64, beside, where);
  labels = cast_labels(labels, dtype::i64, beside, where);
}

} // namespace troupe
