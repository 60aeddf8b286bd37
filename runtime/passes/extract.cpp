#include "troupe/runtime/passes/extract.hpp"

#include <algorithm>

namespace troupe {
namespace {

class extractor {
public:
  extractor(const graph& of, const step_signature& signature)
      : signature_(signature), made_{std::make_unique<graph>(of.ops()), {}},
        feeds_(signature.feeds.size()), copies_(of.nodes().size()), fed_nodes_(of.nodes().size()) {
    for (const auto& one : signature.feeds)
      fed_nodes_[static_cast<size_t>(one.node->id())] = true;
  }

  result<step_graph> run(const std::vector<node*>& order) {
    for (auto* node : order)
      TROUPE_TRY(copy(*node));
    for (size_t i = 0; i < signature_.fetches.size(); ++i) {
      auto what = signature_.fetches[i];
      TROUPE_ASSIGN(auto value, copied(what));
      TROUPE_TRY(made_.nodes->add({.op = "_Fetch",
                                   .name = concat("_fetch_", i),
                                   .inputs = {value},
                                   .attrs = {{"index", i}},
                                   .where = what.node->where()}));
    }
    for (auto* target : signature_.targets)
      made_.targets.push_back(copies_[static_cast<size_t>(target->id())]);
    return std::move(made_);
  }

private:
  status copy(node& n) {
    std::vector<edge> inputs;
    for (const auto& input : n.inputs()) {
      TROUPE_ASSIGN(auto local, copied(input));
      inputs.push_back(local);
    }
    // Placeholders that are fed are not copied: waiting for one means nothing.
    std::vector<node*> controls;
    for (auto* before : n.controls())
      if (auto* local = copies_[static_cast<size_t>(before->id())])
        controls.push_back(local);
    copies_[static_cast<size_t>(n.id())] =
        made_.nodes->add_copy(n, std::move(inputs), std::move(controls));
    return {};
  }

  result<edge> copied(edge what) {
    if (fed_nodes_[static_cast<size_t>(what.node->id())])
      if (auto it = find_edge(signature_.feeds, what); it != signature_.feeds.end())
        return feed(what, static_cast<size_t>(it - signature_.feeds.begin()));
    return edge{copies_[static_cast<size_t>(what.node->id())], what.index};
  }

  result<edge> feed(edge what, size_t index) {
    auto& known = feeds_[index];
    if (!known) {
      TROUPE_ASSIGN(
          known, made_.nodes->add(
                     {.op = "_Feed",
                      .name = concat("_feed_", index, '/', what.node->name()),
                      .attrs = {{"index", index}, {"dtype", what.type()}, {"shape", what.dims()}},
                      .where = what.node->where()}));
    }
    return edge{known, 0};
  }

  const step_signature& signature_;
  step_graph made_;
  std::vector<node*> feeds_;
  std::vector<node*> copies_;   // by the id of the original
  std::vector<bool> fed_nodes_; // have an output that is fed
};

} // namespace

result<step_graph> extract(const graph& of, const step_signature& signature) {
  TROUPE_ASSIGN(auto order, prune(of, signature));
  return extractor{of, signature}.run(order);
}

step_graph copy_of(const step_graph& what) {
  step_graph made{std::make_unique<graph>(what.nodes->ops()), {}};
  std::vector<node*> copies(what.nodes->nodes().size());
  auto copied = [&](const node* one) {
    return one ? copies[static_cast<size_t>(one->id())] : nullptr;
  };
  for (const auto& one : what.nodes->nodes()) {
    std::vector<edge> inputs;
    for (const auto& input : one->inputs())
      inputs.push_back({copied(input.node), input.index});
    std::vector<node*> controls;
    for (const auto* before : one->controls())
      controls.push_back(copied(before));
    copies[static_cast<size_t>(one->id())] =
        made.nodes->add_copy(*one, std::move(inputs), std::move(controls));
  }
  for (const auto* target : what.targets)
    made.targets.push_back(copied(target));
  return made;
}

} // namespace troupe
