#include "troupe/serialization/graph_def/check_ops.hpp"

#include "troupe/serialization/graph_def/flow_graph.hpp"
#include "troupe/serialization/graph_def/function_library.hpp"

#include <set>
#include <vector>

namespace troupe::graph_def {
namespace {
class op_checker {
public:
  op_checker(const GraphDef& graph, const registry& ops)
      : functions_(graph.library(), ops), ops_(ops) {
    visit(graph.node());
    while (!called_.empty()) {
      const auto* next = called_.back();
      called_.pop_back();
      visit(next->node_def());
    }
  }

  status outcome(const std::unordered_map<std::string, std::string>& needed_by) const {
    std::string list;
    for (const auto& [op, used] : uses_) {
      if (used.known)
        continue;
      auto dependent = needed_by.find(std::string{used.first});
      list += concat(list.empty() ? "" : ", ", op, " (",
                     used.count == 1 ? "" : concat(used.count, " nodes, such as "), "'", used.first,
                     '\'',
                     dependent == needed_by.end() || dependent->second == used.first
                         ? std::string{}
                         : concat(", which '", dependent->second, "' needs"),
                     ')');
    }
    if (list.empty())
      return {};
    return failure(error_kind::unimplemented, "no such op: ", list);
  }

private:
  struct use {
    bool known = false;
    size_t count = 0;
    std::string_view first;
  };

  // Adds a function and its chain of gradients.
  void note(const FunctionDef* body) {
    while (body && seen_.insert(body).second) {
      called_.push_back(body);
      const auto* gradient = functions_.gradient_of(body->signature().name());
      body = gradient ? functions_.find(*gradient) : nullptr;
    }
  }

  void visit(const google::protobuf::RepeatedPtrField<NodeDef>& nodes) {
    for (const auto& node_def : nodes)
      if (auto call = functions_.called_by(node_def)) {
        note(call.body);
      } else if (auto [entry, is_new] = uses_.emplace(node_def.op(), use{}); is_new) {
        visit_functions(node_def);
        // Looked up once: a failed lookup in the registry is slow.
        entry->second = {flow_of(node_def.op()) != flow::plain || ops_.find_op(node_def.op()).ok(),
                         1, node_def.name()};
      } else {
        visit_functions(node_def);
        ++entry->second.count;
      }
  }

  void visit_functions(const NodeDef& node_def) {
    auto visit_function = [&](const NameAttrList& called) {
      NodeDef call;
      call.set_op(called.name());
      if (auto function = functions_.called_by(call))
        note(function.body);
    };
    for (const auto& [name, value] : node_def.attr()) {
      if (value.has_func())
        visit_function(value.func());
      for (const auto& called : value.list().func())
        visit_function(called);
    }
  }

  function_library functions_;
  const registry& ops_;
  std::map<std::string_view, use> uses_;
  std::set<const FunctionDef*> seen_;
  std::vector<const FunctionDef*> called_;
};

} // namespace

status check_ops(const GraphDef& graph, const registry& ops,
                 const std::unordered_map<std::string, std::string>& needed_by) {
  return op_checker{graph, ops}.outcome(needed_by);
}

} // namespace troupe::graph_def
