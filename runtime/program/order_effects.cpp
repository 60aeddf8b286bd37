#include "troupe/runtime/program/order_effects.hpp"

#include "troupe/runtime/graph/accesses.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"

#include <map>

namespace troupe {
namespace {

struct accesses {
  node* last_update = nullptr;
  std::vector<node*> reads; // since the last update
};

void add_order(node* before, node& after) {
  if (before && before != &after)
    (void)after.graph().add_control(*before, after); // cannot fail: both are in the same graph
}

} // namespace

void order_effects(graph& ordered, bool strictly) {
  std::map<const node*, accesses> known;
  for (const auto& node : ordered.nodes())
    for (const auto& access : accesses_of(*node)) {
      // Table accesses are not marked as reads or updates, so they are ordered only if `strictly`.
      auto kind = access.state->op().state_kind;
      if (!(kind == resource::variable || (strictly && kind == resource::table)))
        continue;
      auto& state_accesses = known[access.state];
      if (!access.is_read || &node->op() == &internal_ops::fetch || strictly)
        add_order(state_accesses.last_update, *node);
      if (!access.updates) {
        state_accesses.reads.push_back(node.get());
        continue;
      }
      for (auto* read : state_accesses.reads)
        add_order(read, *node);
      state_accesses.reads.clear();
      state_accesses.last_update = node.get();
    }
}

} // namespace troupe
