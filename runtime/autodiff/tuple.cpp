#include "troupe/runtime/autodiff/tuple.hpp"

#include "troupe/runtime/graph/internal_ops.hpp"

#include <numeric>

namespace troupe {
namespace {

std::vector<int64_t> counted(size_t count) {
  std::vector<int64_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// What is read of a variable is the same in many turns, and a list that is handed on has its items
// in all: these are not written to files again and again.
bool swaps(edge one) {
  if (one.type() == dtype::variant)
    return &one.node->op() != &internal_ops::feed;
  for (int i = 0; i < static_cast<int>(one.node->inputs().size()); ++i)
    if (one.node->input_is_ref(i))
      return false;
  return true;
}

} // namespace

result<edge> add_tuple(graph& to, const std::vector<edge>& of, bool swap) {
  std::vector<int64_t> places;
  for (size_t i = 0; swap && i < of.size(); ++i)
    if (swaps(of[i]))
      places.push_back(static_cast<int64_t>(i));
  TROUPE_ASSIGN(auto* made, to.add({.op = "_Tuple",
                                    .inputs = of,
                                    .attrs = {{"places", counted(of.size())},
                                              {"count", static_cast<int64_t>(of.size())},
                                              {"swap", std::move(places)}}}));
  return made->output(0);
}

result<std::vector<edge>> add_items(edge tuple, const std::vector<edge>& like) {
  std::vector<edge> made;
  if (like.empty())
    return made;
  std::vector<dtype> types;
  std::vector<partial_shape> dims;
  for (const auto& one : like) {
    types.push_back(one.type());
    dims.push_back(one.dims());
  }
  TROUPE_ASSIGN(auto* items,
                tuple.node->graph().add({.op = "_TupleItems",
                                         .inputs = {tuple},
                                         .attrs = {{"types", types},
                                                   {"shapes", dims},
                                                   {"places", counted(like.size())},
                                                   {"count", static_cast<int64_t>(like.size())}}}));
  for (int i = 0; i < items->outputs(); ++i)
    made.push_back(items->output(i));
  return made;
}

} // namespace troupe
