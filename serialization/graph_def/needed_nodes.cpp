#include "troupe/serialization/graph_def/needed_nodes.hpp"

#include "troupe/serialization/graph_def/flow_graph.hpp"
#include "troupe/serialization/graph_def/function_library.hpp"
#include "troupe/serialization/graph_def/input_name.hpp"

namespace troupe::graph_def {
namespace {

// The nodes of a GraphDef by name. Of several with one name, the first counts.
class node_index {
public:
  explicit node_index(const GraphDef& graph) : nodes_(graph.node()) {
    for (int i = 0; i < nodes_.size(); ++i)
      by_name_.emplace(nodes_[i].name(), i);
  }

  // Returns -1 if there is no such node.
  int find(std::string_view name) const {
    auto position = by_name_.find(name);
    return position == by_name_.end() ? -1 : position->second;
  }

  // Finds the node of a wanted name, or the call that contains it.
  int find_wanted(std::string_view name) const {
    auto position = find(name);
    for (auto slash = name.rfind('/'); position < 0 && slash != name.npos;
         slash = name.rfind('/')) {
      name = name.substr(0, slash);
      position = find(name);
    }
    return position;
  }

  std::vector<int> inputs_of(int i) const {
    std::vector<int> inputs;
    for (const auto& text : nodes_[i].input())
      if (auto name = input_name::parse(text))
        if (auto from = find(name->node); from >= 0)
          inputs.push_back(from);
    return inputs;
  }

private:
  const google::protobuf::RepeatedPtrField<NodeDef>& nodes_;
  std::unordered_map<std::string_view, int> by_name_;
};

void keep(GraphDef& graph, const std::vector<bool>& kept) {
  google::protobuf::RepeatedPtrField<NodeDef> remaining;
  for (int i = 0; i < graph.node_size(); ++i)
    if (kept[static_cast<size_t>(i)])
      *remaining.Add() = std::move(*graph.mutable_node(i));
  graph.mutable_node()->Swap(&remaining);
}

bool is_handle_placeholder(const NodeDef& tested) {
  if (!tested.op().starts_with("Placeholder"))
    return false;
  const auto* type = find(tested.attr(), "dtype");
  return type && type->type() == DT_RESOURCE;
}

} // namespace

result<needed_nodes> keep_needed(GraphDef& graph, const std::vector<std::string>& wanted_names) {
  node_index nodes{graph};
  needed_nodes needed;
  std::vector<bool> kept(static_cast<size_t>(graph.node_size()));
  std::vector<int> open;
  for (const auto& text : wanted_names) {
    TROUPE_ASSIGN(auto name, input_name::parse(text));
    auto first = nodes.find_wanted(name.node);
    if (first < 0) {
      std::vector<std::string_view> known_names;
      for (const auto& node_def : graph.node())
        known_names.push_back(node_def.name());
      return failure(error_kind::not_found, "there is no node '", name.node, '\'',
                     did_you_mean(name.node, known_names));
    }
    auto visit = [&](int i) {
      if (kept[static_cast<size_t>(i)])
        return;
      kept[static_cast<size_t>(i)] = true;
      needed.needed_by.emplace(graph.node(i).name(), text);
      open.push_back(i);
    };
    visit(first);
    while (!open.empty()) {
      auto i = open.back();
      open.pop_back();
      for (auto from : nodes.inputs_of(i))
        visit(from);
    }
  }
  for (int i = 0; i < graph.node_size(); ++i)
    if (!kept[static_cast<size_t>(i)])
      needed.left_out.emplace(
          graph.node(i).name(),
          "was not read, as none of the nodes in graph_def_options::wanted needs "
          "it: add its name there");
  keep(graph, kept);
  return needed;
}

left_out_nodes leave_out_handles(GraphDef& graph) {
  left_out_nodes left_out;
  std::vector<int> open;
  for (int i = 0; i < graph.node_size(); ++i)
    if (is_handle_placeholder(graph.node(i))) {
      left_out.emplace(graph.node(i).name(),
                       concat("cannot be: ", read_type(DT_RESOURCE).status().message()));
      open.push_back(i);
    }
  if (open.empty())
    return left_out;
  node_index nodes{graph};
  auto count = static_cast<size_t>(graph.node_size());
  std::vector<std::vector<int>> inputs(count), readers(count);
  for (int i = 0; i < graph.node_size(); ++i) {
    inputs[static_cast<size_t>(i)] = nodes.inputs_of(i);
    for (auto from : inputs[static_cast<size_t>(i)])
      readers[static_cast<size_t>(from)].push_back(i);
  }
  std::vector<bool> kept(count, true);
  std::vector<int> because(count, -1), left_readers;
  for (const auto& reader_list : readers)
    left_readers.push_back(static_cast<int>(reader_list.size()));
  for (auto i : open) {
    kept[static_cast<size_t>(i)] = false;
    because[static_cast<size_t>(i)] = i;
  }
  auto leave_out = [&](int i, int placeholder, std::string_view relation) {
    if (!kept[static_cast<size_t>(i)])
      return;
    kept[static_cast<size_t>(i)] = false;
    because[static_cast<size_t>(i)] = placeholder;
    const auto& cause = graph.node(placeholder);
    left_out.emplace(graph.node(i).name(), concat(relation, cause.op(), " '", cause.name(), "': ",
                                                  read_type(DT_RESOURCE).status().message()));
    open.push_back(i);
  };
  while (!open.empty()) {
    auto i = open.back();
    open.pop_back();
    auto cause = because[static_cast<size_t>(i)];
    for (auto reader : readers[static_cast<size_t>(i)])
      leave_out(reader, cause, "needs ");
    // An Enter whose readers are all left out is left out, too: it is no loop.
    for (auto from : inputs[static_cast<size_t>(i)])
      if (--left_readers[static_cast<size_t>(from)] == 0 &&
          flow_of(graph.node(from).op()) == flow::enter)
        leave_out(from, cause, "leads only to nodes that need ");
  }
  keep(graph, kept);
  return left_out;
}

} // namespace troupe::graph_def
