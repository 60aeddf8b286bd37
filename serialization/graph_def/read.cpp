// Reads GraphDefs, which are untrusted: every field is checked.
#include "troupe/serialization/graph_def/add_nodes.hpp"
#include "troupe/serialization/graph_def/check_ops.hpp"
#include "troupe/serialization/graph_def/graph_def.hpp"
#include "troupe/serialization/graph_def/graph_file.hpp"
#include "troupe/serialization/graph_def/inline_calls.hpp"
#include "troupe/serialization/graph_def/input_name.hpp"
#include "troupe/serialization/graph_def/needed_nodes.hpp"
#include "troupe/serialization/wire/origin.hpp"

#include <set>
#include <tuple>

namespace troupe {
namespace graph_def {
namespace {

// Before version 22, a scalar shape could mean an unknown shape.
void fix_old_placeholders(GraphDef& graph) {
  if (graph.versions().producer() >= 22)
    return;
  for (auto& node_def : *graph.mutable_node())
    if (node_def.op() == "Placeholder")
      if (auto dims = node_def.mutable_attr()->find("shape");
          dims != node_def.mutable_attr()->end() && dims->second.shape().dim_size() == 0)
        dims->second.mutable_shape()->set_unknown_rank(true);
}

// The nodes of wanted names.
std::set<std::string> nodes_of(const std::vector<std::string>& wanted_names) {
  std::set<std::string> nodes;
  for (const auto& text : wanted_names)
    if (auto name = input_name::parse(text))
      nodes.emplace(name->node);
  return nodes;
}

// Adds the names of converted nodes to those of an import.
class name_keeper {
public:
  name_keeper(graph& target, const raised_graph& raised, const std::string& file)
      : target_(target), raised_(raised), file_(file), names_(target, target.scope()) {}

  status add(const std::string& name, const std::vector<std::string>& outputs,
             const std::string& end) {
    std::vector<edge> edges;
    for (const auto& output : outputs) {
      auto from = names_.find_edge(output);
      if (const auto* reason = from ? nullptr : hidden(output)) {
        names_.hide(name, *reason);
        return {};
      }
      if (!from)
        return from.status();
      edges.push_back(*from);
    }
    names_.add_call(name, std::move(edges), names_.find(end));
    return {};
  }

  // Adds a node with the name, which only passes the edges on, for when the graph is written.
  status add_node(const std::string& name) {
    if (target_.find(target_.scope() + name))
      return {};
    node_spec spec;
    spec.name = name;
    for (int i = 0;; ++i) {
      auto output = names_.find_edge(concat(name, ':', i));
      if (!output)
        break;
      if (output->node->output_is_ref(output->index))
        return {}; // a copy of the value would not be the same
      spec.inputs.push_back(*output);
    }
    if (spec.inputs.empty())
      return {};
    spec.device = spec.inputs[0].node->device();
    spec.op = spec.inputs.size() == 1 ? "Identity" : "IdentityN";
    TROUPE_ASSIGN(const auto* added, add_with_origin(target_, std::move(spec), file_));
    names_.add_stand_in(*added);
    return {};
  }

  imported_graph& names() { return names_; }

private:
  const std::string* hidden(std::string_view output) const {
    auto parsed = input_name::parse(output);
    auto reason = parsed ? raised_.hidden.find(parsed->node) : raised_.hidden.end();
    return reason == raised_.hidden.end() ? nullptr : &reason->second;
  }

  graph& target_;
  const raised_graph& raised_;
  const std::string& file_;
  imported_graph names_;
};

result<imported_graph> read(GraphDef& from, graph& target, const graph_def_options& options) {
  fix_old_placeholders(from);
  needed_nodes needed;
  if (!options.wanted.empty()) {
    auto kept = keep_needed(from, options.wanted);
    if (!kept)
      return kept.status().with_context(options.file);
    needed = *std::move(kept);
  }
  auto no_handles = leave_out_handles(from);
  TROUPE_TRY(check_ops(from, target.ops(), needed.needed_by).with_context(options.file));
  auto calls = inline_calls(from, target.ops());
  if (!calls)
    return calls.status().with_context(options.file);
  auto raised = raise_control_flow(from, target.ops(), nodes_of(options.wanted));
  if (!raised)
    return raised.status().with_context(options.file);
  auto functions = max_functions;
  std::map<std::string, std::shared_ptr<const function>> known_functions;
  function_source source{.library = from.library(),
                         .options = options,
                         .left = &functions,
                         .known = &known_functions,
                         .raised = &*raised};
  TROUPE_ASSIGN(auto handles, add_nodes(from, target, source));
  name_keeper keeper{target, *raised, options.file};
  auto& names = keeper.names();
  for (const auto& [name, passed] : handles)
    names.add_call(name, {passed.target}, passed.after);
  for (const auto& [name, replacement] : raised->names)
    TROUPE_TRY(keeper.add(name, replacement.outputs, replacement.end));
  for (const auto* reasons : {&raised->hidden, &no_handles, &needed.left_out})
    for (const auto& [name, reason] : *reasons)
      names.hide(name, reason);
  for (const auto& [name, call] : *calls)
    TROUPE_TRY(keeper.add(name, call.outputs, call.end));
  for (const auto& [name, replacement] : raised->names)
    if (!replacement.is_exclusive)
      TROUPE_TRY(keeper.add_node(name));
  return std::move(names);
}

} // namespace
} // namespace graph_def

result<edge> imported_graph::find_edge(std::string_view name) const {
  auto [node, output] = std::pair{name, 0};
  if (auto input = graph_def::input_name::parse(name); input && !input->control)
    std::tie(node, output) = std::pair{input->node, input->output};
  auto call = calls_.find(node);
  if (auto reason = hidden_.find(node); call == calls_.end() && reason != hidden_.end())
    return failure(error_kind::not_found, "there is no '", name, "' to be read, it ",
                   reason->second);
  if (call == calls_.end())
    return in_->find_edge(scope_ + std::string{name});
  const auto& outputs = call->second.outputs;
  if (static_cast<size_t>(output) >= outputs.size())
    return failure(error_kind::not_found, "there is no output '", name, "', the call has ",
                   outputs.size());
  return outputs[static_cast<size_t>(output)];
}

node* imported_graph::find(std::string_view name) const noexcept {
  auto call = calls_.find(name);
  return call == calls_.end() ? in_->find(scope_ + std::string{name}) : call->second.end;
}

void imported_graph::hide(std::string name, std::string reason) {
  hidden_.emplace(std::move(name), std::move(reason));
}

void imported_graph::add_call(std::string name, std::vector<edge> outputs, node* end) {
  calls_.emplace(std::move(name), call{std::move(outputs), end});
}

result<imported_graph> read_graph_def(std::span<const std::byte> bytes, graph& target,
                                      const graph_def_options& options) {
  TROUPE_ASSIGN(auto parsed, graph_def::parse_graph(bytes, options.file));
  return graph_def::read(parsed, target, options);
}

result<imported_graph> read_graph_def_text(std::string_view text, graph& target,
                                           const graph_def_options& options) {
  TROUPE_ASSIGN(auto parsed, graph_def::parse_graph_text(text, options.file));
  return graph_def::read(parsed, target, options);
}

} // namespace troupe
