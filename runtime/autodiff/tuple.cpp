#include "troupe/runtime/autodiff/tuple.hpp"

#include "troupe/runtime/graph/internal_ops.hpp"

#include <numeric>

namespace troupe {
namespace {

std::vector<int64_t> counting_from_zero(size_t count) {
  std::vector<int64_t> numbers_from_zero(count);
  std::iota(numbers_from_zero.begin(), numbers_from_zero.end(), 0);
  return numbers_from_zero;
}

// Returns whether a component may be written to files. A value read from a variable is the same in
// many iterations, and a list that is passed on contains the items of all iterations, so these
// would be written repeatedly.
bool is_swappable(edge component) {
  if (component.type() == dtype::variant)
    return &component.node->op() != &internal_ops::feed;
  for (int i = 0; i < static_cast<int>(component.node->inputs().size()); ++i)
    if (component.node->input_is_ref(i))
      return false;
  return true;
}

} // namespace

result<edge> add_tuple(graph& target, const std::vector<edge>& components, bool swap) {
  std::vector<int64_t> places;
  for (size_t i = 0; swap && i < components.size(); ++i)
    if (is_swappable(components[i]))
      places.push_back(static_cast<int64_t>(i));
  TROUPE_ASSIGN(auto* tuple_node,
                target.add({.op = "_Tuple",
                            .inputs = components,
                            .attrs = {{"places", counting_from_zero(components.size())},
                                      {"count", static_cast<int64_t>(components.size())},
                                      {"swap", std::move(places)}}}));
  return tuple_node->output(0);
}

result<std::vector<edge>> add_items(edge tuple, const std::vector<edge>& source_edges) {
  std::vector<edge> item_edges;
  if (source_edges.empty())
    return item_edges;
  std::vector<dtype> types;
  std::vector<partial_shape> dims;
  for (const auto& source_edge : source_edges) {
    types.push_back(source_edge.type());
    dims.push_back(source_edge.dims());
  }
  TROUPE_ASSIGN(
      auto* items,
      tuple.node->graph().add({.op = "_TupleItems",
                               .inputs = {tuple},
                               .attrs = {{"types", types},
                                         {"shapes", dims},
                                         {"places", counting_from_zero(source_edges.size())},
                                         {"count", static_cast<int64_t>(source_edges.size())}}}));
  for (int i = 0; i < items->outputs(); ++i)
    item_edges.push_back(items->output(i));
  return item_edges;
}

} // namespace troupe
