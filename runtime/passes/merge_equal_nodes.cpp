#include "troupe/runtime/passes/passes.hpp"
#include "troupe/runtime/passes/rewriter.hpp"

#include <algorithm>
#include <functional>
#include <unordered_map>

namespace troupe {
namespace {

void mix(size_t& hash, size_t value_hash) {
  hash ^= value_hash + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
}

struct hash_of {
  size_t operator()(bool value) const { return value; }
  size_t operator()(int64_t value) const { return static_cast<size_t>(value); }
  size_t operator()(double value) const { return std::hash<double>{}(value); }
  size_t operator()(dtype value) const { return static_cast<size_t>(value); }
  size_t operator()(const std::string& value) const { return std::hash<std::string>{}(value); }
  // The first bytes distinguish most constants. Equality compares all bytes.
  size_t operator()(const tensor& value) const {
    auto hash = static_cast<size_t>(value.type());
    for (auto extent : value.dims())
      mix(hash, static_cast<size_t>(extent));
    if (value.type() < dtype::string)
      mix(hash, std::hash<std::string_view>{}(
                    {static_cast<const char*>(value.raw()), std::min<size_t>(value.bytes(), 64)}));
    return hash;
  }
  template <class T>
  size_t operator()(const std::vector<T>& value) const {
    return value.size();
  }
  size_t operator()(const function_value& value) const {
    return std::hash<std::string>{}(value.name);
  }
  size_t operator()(const partial_shape& value) const { return static_cast<size_t>(value.rank()); }
};

// Strings are excluded, because their addition is concatenation, which does not commute.
bool is_commutative(const node& node) {
  return has(node.op().effects, effect::commutative) && node.inputs().size() == 2 &&
         node.inputs()[0].type() != dtype::string;
}

std::vector<edge> ordered_inputs(const node& node) {
  auto inputs = node.inputs();
  auto key = [](const edge& source) { return std::pair{source.node->id(), source.index}; };
  if (is_commutative(node) && key(inputs[1]) < key(inputs[0]))
    std::swap(inputs[0], inputs[1]);
  return inputs;
}

size_t hash_node(const node& node) {
  auto hash = std::hash<const void*>{}(&node.op());
  for (const auto& input : ordered_inputs(node))
    mix(hash, static_cast<size_t>(input.node->id()) * 8 + static_cast<size_t>(input.index));
  for (const auto& [name, value] : node.attrs())
    mix(hash, std::visit(hash_of{}, value.get()));
  return hash;
}

bool is_same(const node& a, const node& b) {
  return &a.op() == &b.op() && a.device() == b.device() &&
         std::ranges::equal(ordered_inputs(a), ordered_inputs(b), is_same_edge) &&
         std::ranges::is_permutation(a.controls(), b.controls()) && a.attrs() == b.attrs();
}

} // namespace

void merge_equal_nodes(step_graph& step) {
  rewriter graph_rewriter{step};
  std::unordered_multimap<size_t, node*> known_nodes;
  known_nodes.reserve(graph_rewriter.nodes().size());
  for (auto* node : graph_rewriter.nodes()) {
    graph_rewriter.refresh(*node);
    if (!is_pure(*node) || node->outputs() == 0)
      continue;
    auto hash = hash_node(*node);
    auto [begin, end] = known_nodes.equal_range(hash);
    auto equal_node =
        std::find_if(begin, end, [&](const auto& entry) { return is_same(*entry.second, *node); });
    if (equal_node != end)
      graph_rewriter.merge(*node, *equal_node->second);
    else
      known_nodes.emplace(hash, node);
  }
  graph_rewriter.finish();
}

} // namespace troupe
