#include "troupe/serialization/graph_def/check_ops.hpp"

#include "troupe/serialization/graph_def/flow_graph.hpp"
#include "troupe/serialization/graph_def/function_library.hpp"

#include <set>
#include <vector>

namespace troupe::graph_def {
namespace {

class op_checker {
public:
  op_checker(const GraphDef& in, const registry& ops) : functions_(in.library(), ops), ops_(ops) {
    look_at(in.node());
    while (!called_.empty()) {
      const auto* next = called_.back();
      called_.pop_back();
      look_at(next->node_def());
    }
  }

  status outcome(const std::unordered_map<std::string, std::string>& needed_by) const {
    std::string list;
    for (const auto& [op, found] : uses_) {
      if (found.known)
        continue;
      auto wanted = needed_by.find(std::string{found.first});
      list += concat(list.empty() ? "" : ", ", op, " (",
                     found.count == 1 ? "" : concat(found.count, " nodes, such as "), "'",
                     found.first, '\'',
                     wanted == needed_by.end() || wanted->second == found.first
                         ? std::string{}
                         : concat(", which '", wanted->second, "' needs"),
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

  // A function, and what its gradients are.
  void note(const FunctionDef* body) {
    while (body && seen_.insert(body).second) {
      called_.push_back(body);
      const auto* gradient = functions_.gradient_of(body->signature().name());
      body = gradient ? functions_.find(*gradient) : nullptr;
    }
  }

  void look_at(const google::protobuf::RepeatedPtrField<NodeDef>& nodes) {
    for (const auto& each : nodes)
      if (auto call = functions_.called_by(each)) {
        note(call.body);
      } else if (auto [at, fresh] = uses_.emplace(each.op(), use{}); fresh) {
        look_at_functions(each);
        // Asked once: a registry thinks long about names that it does not know.
        at->second = {flow_of(each.op()) != flow::plain || ops_.find_op(each.op()).ok(), 1,
                      each.name()};
      } else {
        look_at_functions(each);
        ++at->second.count;
      }
  }

  void look_at_functions(const NodeDef& of) {
    auto look = [&](const NameAttrList& which) {
      NodeDef call;
      call.set_op(which.name());
      if (auto called = functions_.called_by(call))
        note(called.body);
    };
    for (const auto& [name, value] : of.attr()) {
      if (value.has_func())
        look(value.func());
      for (const auto& each : value.list().func())
        look(each);
    }
  }

  function_library functions_;
  const registry& ops_;
  std::map<std::string_view, use> uses_;
  std::set<const FunctionDef*> seen_;
  std::vector<const FunctionDef*> called_;
};

} // namespace

status check_ops(const GraphDef& in, const registry& ops,
                 const std::unordered_map<std::string, std::string>& needed_by) {
  return op_checker{in, ops}.outcome(needed_by);
}

} // namespace troupe::graph_def
