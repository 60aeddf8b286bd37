#include "troupe/runtime/program/order_effects.hpp"

#include "troupe/runtime/graph/internal_ops.hpp"

#include <map>

namespace troupe {
namespace {

struct accesses {
  node* last_update = nullptr;
  std::vector<node*> reads; // since then, or since ever
};

void put(node* before, node& after) {
  if (before && before != &after)
    (void)after.graph().add_control(*before, after); // both are of one graph
}

} // namespace

void order_effects(graph& of, bool strictly) {
  std::map<const node*, accesses> known;
  for (const auto& node : of.nodes())
    for (int i = 0; i < static_cast<int>(node->inputs().size()); ++i) {
      const auto& input = node->inputs()[static_cast<size_t>(i)];
      if (!input.node->output_is_ref(input.index))
        continue;
      const auto* state = resource_behind(input);
      // All uses of a table look alike from here; to order them all is for whoever asks for it.
      if (!state || !(state->op().makes == resource::variable ||
                      (strictly && state->op().makes == resource::table)))
        continue;
      auto& to = known[state];
      auto updates = node->input_is_ref(i), fetches = &node->op() == &internal_ops::fetch;
      if (updates || fetches || strictly)
        put(to.last_update, *node);
      if (!updates) {
        to.reads.push_back(node.get());
        continue;
      }
      for (auto* read : to.reads)
        put(read, *node);
      to.reads.clear();
      to.last_update = node.get();
    }
}

} // namespace troupe
