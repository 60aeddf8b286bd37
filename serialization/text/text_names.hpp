// The scopes of names in a text graph: the graph, the functions that are being read, and their
// arguments.
#pragma once
#include "troupe/runtime/graph/function.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

class text_names {
public:
  explicit text_names(graph& outermost) : levels_{{&outermost, {}, true}} {}

  /// The innermost function that is being read, or the graph itself.
  graph& innermost_graph() const { return *levels_.back().nodes; }
  /// The number of functions that are being read.
  size_t depth() const { return levels_.size() - 1; }

  /// Enters a function. A closed function does not see names from outside.
  void enter(graph& function, bool is_closed) { levels_.push_back({&function, {}, is_closed}); }
  void leave() { levels_.pop_back(); }

  /// Names an argument of the innermost function. Returns false if that name is taken.
  bool add_argument(std::string name, edge argument) {
    return levels_.back().arguments.emplace(std::move(name), argument).second;
  }

  /// Finds the node of a name. An inner name hides an outer name, and a node hides an argument of
  /// the same level. Fails with not_found and proposes similar names.
  result<node*> find(std::string_view name) const;

private:
  struct level {
    graph* nodes;
    std::map<std::string, edge, std::less<>> arguments;
    bool is_closed;
  };
  std::vector<level> levels_; // from the outermost inwards
};

} // namespace troupe
