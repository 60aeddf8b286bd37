#include "troupe/runtime/program/order_effects.hpp"

#include "troupe/runtime/graph/accesses.hpp"
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
    for (const auto& access : accesses_of(*node)) {
      // All uses of a table look alike from here; to order them all is for whoever asks for it.
      auto kind = access.state->op().makes;
      if (!(kind == resource::variable || (strictly && kind == resource::table)))
        continue;
      auto& to = known[access.state];
      if (!access.as_value || &node->op() == &internal_ops::fetch || strictly)
        put(to.last_update, *node);
      if (!access.updates) {
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
