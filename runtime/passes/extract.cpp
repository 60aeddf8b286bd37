#include "troupe/runtime/passes/extract.hpp"

#include <algorithm>

namespace troupe {
namespace {

class extractor {
public:
  extractor(const graph& source, const step_signature& signature)
      : signature_(signature), extracted_{std::make_unique<graph>(source.ops()), {}},
        feeds_(signature.feeds.size()), copies_(source.nodes().size()),
        fed_nodes_(source.nodes().size()) {
    for (const auto& fed : signature.feeds)
      fed_nodes_[static_cast<size_t>(fed.node->id())] = true;
  }

  result<step_graph> run(const std::vector<node*>& order) {
    for (auto* node : order)
      TROUPE_TRY(copy(*node));
    for (size_t i = 0; i < signature_.fetches.size(); ++i) {
      auto fetched = signature_.fetches[i];
      TROUPE_ASSIGN(auto value, copied_edge(fetched));
      TROUPE_TRY(extracted_.nodes->add({.op = "_Fetch",
                                        .name = concat("_fetch_", i),
                                        .inputs = {value},
                                        .attrs = {{"index", i}},
                                        .where = fetched.node->where()}));
    }
    for (auto* target : signature_.targets)
      extracted_.targets.push_back(copies_[static_cast<size_t>(target->id())]);
    return std::move(extracted_);
  }

private:
  status copy(node& source) {
    std::vector<edge> inputs;
    for (const auto& input : source.inputs()) {
      TROUPE_ASSIGN(auto copied_input, copied_edge(input));
      inputs.push_back(copied_input);
    }
    // A fed placeholder is not copied, because it has its value before the step starts.
    std::vector<node*> controls;
    for (auto* before : source.controls())
      if (auto* copied_control = copies_[static_cast<size_t>(before->id())])
        controls.push_back(copied_control);
    copies_[static_cast<size_t>(source.id())] =
        extracted_.nodes->add_copy(source, std::move(inputs), std::move(controls));
    return {};
  }

  result<edge> copied_edge(edge source) {
    if (fed_nodes_[static_cast<size_t>(source.node->id())])
      if (auto fed = find_edge(signature_.feeds, source); fed != signature_.feeds.end())
        return feed(source, static_cast<size_t>(fed - signature_.feeds.begin()));
    return edge{copies_[static_cast<size_t>(source.node->id())], source.index};
  }

  result<edge> feed(edge source, size_t index) {
    auto& feed_node = feeds_[index];
    if (!feed_node) {
      TROUPE_ASSIGN(
          feed_node,
          extracted_.nodes->add(
              {.op = "_Feed",
               .name = concat("_feed_", index, '/', source.node->name()),
               .attrs = {{"index", index}, {"dtype", source.type()}, {"shape", source.dims()}},
               .where = source.node->where()}));
    }
    return edge{feed_node, 0};
  }

  const step_signature& signature_;
  step_graph extracted_;
  std::vector<node*> feeds_;
  std::vector<node*> copies_;   // indexed by the id of the original
  std::vector<bool> fed_nodes_; // whether an output of the node is fed
};

} // namespace

result<step_graph> extract(const graph& source, const step_signature& signature) {
  TROUPE_ASSIGN(auto order, prune(source, signature));
  return extractor{source, signature}.run(order);
}

step_graph copy_of(const step_graph& source) {
  step_graph copy{std::make_unique<graph>(source.nodes->ops()), {}};
  std::vector<node*> copies(source.nodes->nodes().size());
  auto copied_node = [&](const node* source_node) {
    return source_node ? copies[static_cast<size_t>(source_node->id())] : nullptr;
  };
  for (const auto& source_node : source.nodes->nodes()) {
    std::vector<edge> inputs;
    for (const auto& input : source_node->inputs())
      inputs.push_back({copied_node(input.node), input.index});
    std::vector<node*> controls;
    for (const auto* before : source_node->controls())
      controls.push_back(copied_node(before));
    copies[static_cast<size_t>(source_node->id())] =
        copy.nodes->add_copy(*source_node, std::move(inputs), std::move(controls));
  }
  for (const auto* target : source.targets)
    copy.targets.push_back(copied_node(target));
  return copy;
}

} // namespace troupe
