#include "troupe/serialization/graph_def/needed_nodes.hpp"

#include "troupe/serialization/graph_def/flow_graph.hpp"
#include "troupe/serialization/graph_def/function_library.hpp"
#include "troupe/serialization/graph_def/input_name.hpp"

namespace troupe::graph_def {
namespace {

// The nodes of a GraphDef by their names. The first of several that share one counts.
class node_index {
public:
  explicit node_index(const GraphDef& in) : nodes_(in.node()) {
    for (int i = 0; i < nodes_.size(); ++i)
      by_name_.emplace(nodes_[i].name(), i);
  }

  // -1: there is none.
  int find(std::string_view name) const {
    auto position = by_name_.find(name);
    return position == by_name_.end() ? -1 : position->second;
  }

  // The node of a wanted name, or the call that it is in.
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

void keep(GraphDef& in, const std::vector<bool>& kept) {
  google::protobuf::RepeatedPtrField<NodeDef> left;
  for (int i = 0; i < in.node_size(); ++i)
    if (kept[static_cast<size_t>(i)])
      *left.Add() = std::move(*in.mutable_node(i));
  in.mutable_node()->Swap(&left);
}

bool is_handle_placeholder(const NodeDef& of) {
  if (!of.op().starts_with("Placeholder"))
    return false;
  const auto* type = find(of.attr(), "dtype");
  return type && type->type() == DT_RESOURCE;
}

} // namespace

result<needed_nodes> keep_needed(GraphDef& in, const std::vector<std::string>& wanted) {
  node_index nodes{in};
  needed_nodes needed;
  std::vector<bool> kept(static_cast<size_t>(in.node_size()));
  std::vector<int> open;
  for (const auto& text : wanted) {
    TROUPE_ASSIGN(auto name, input_name::parse(text));
    auto first = nodes.find_wanted(name.node);
    if (first < 0) {
      std::vector<std::string_view> known;
      for (const auto& each : in.node())
        known.push_back(each.name());
      return failure(error_kind::not_found, "there is no node '", name.node, '\'',
                     did_you_mean(name.node, known));
    }
    auto visit = [&](int i) {
      if (kept[static_cast<size_t>(i)])
        return;
      kept[static_cast<size_t>(i)] = true;
      needed.needed_by.emplace(in.node(i).name(), text);
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
  for (int i = 0; i < in.node_size(); ++i)
    if (!kept[static_cast<size_t>(i)])
      needed.left_out.emplace(
          in.node(i).name(),
          "was not read, as none of the nodes in graph_def_options::wanted needs "
          "it: add its name there");
  keep(in, kept);
  return needed;
}

left_out_nodes leave_out_handles(GraphDef& in) {
  left_out_nodes left_out;
  std::vector<int> open;
  for (int i = 0; i < in.node_size(); ++i)
    if (is_handle_placeholder(in.node(i))) {
      left_out.emplace(in.node(i).name(),
                       concat("cannot be: ", read_type(DT_RESOURCE).status().message()));
      open.push_back(i);
    }
  if (open.empty())
    return left_out;
  node_index nodes{in};
  auto count = static_cast<size_t>(in.node_size());
  std::vector<std::vector<int>> inputs(count), readers(count);
  for (int i = 0; i < in.node_size(); ++i) {
    inputs[static_cast<size_t>(i)] = nodes.inputs_of(i);
    for (auto from : inputs[static_cast<size_t>(i)])
      readers[static_cast<size_t>(from)].push_back(i);
  }
  std::vector<bool> kept(count, true);
  std::vector<int> because(count, -1), left_readers;
  for (const auto& each : readers)
    left_readers.push_back(static_cast<int>(each.size()));
  for (auto i : open) {
    kept[static_cast<size_t>(i)] = false;
    because[static_cast<size_t>(i)] = i;
  }
  auto leave_out = [&](int i, int placeholder, std::string_view how) {
    if (!kept[static_cast<size_t>(i)])
      return;
    kept[static_cast<size_t>(i)] = false;
    because[static_cast<size_t>(i)] = placeholder;
    const auto& cause = in.node(placeholder);
    left_out.emplace(in.node(i).name(), concat(how, cause.op(), " '", cause.name(),
                                               "': ", read_type(DT_RESOURCE).status().message()));
    open.push_back(i);
  };
  while (!open.empty()) {
    auto i = open.back();
    open.pop_back();
    auto cause = because[static_cast<size_t>(i)];
    for (auto reader : readers[static_cast<size_t>(i)])
      leave_out(reader, cause, "needs ");
    // An Enter alone is no loop.
    for (auto from : inputs[static_cast<size_t>(i)])
      if (--left_readers[static_cast<size_t>(from)] == 0 &&
          flow_of(in.node(from).op()) == flow::enter)
        leave_out(from, cause, "leads only to what needs ");
  }
  keep(in, kept);
  return left_out;
}

} // namespace troupe::graph_def
