// What the names in a text graph stand for: those of the graph, of the functions that are being
// read, and of their arguments.
#pragma once
#include "troupe/runtime/graph/function.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

class text_names {
public:
  explicit text_names(graph& of) : levels_{{&of, {}, true}} {}

  /// The graph itself, or the innermost function.
  graph& here() const { return *levels_.back().nodes; }
  /// How many functions are being read.
  size_t depth() const { return levels_.size() - 1; }

  /// Begins a function. One that is closed does not know names from outside.
  void enter(graph& function, bool is_closed) { levels_.push_back({&function, {}, is_closed}); }
  void leave() { levels_.pop_back(); }

  /// Names an argument of the innermost function. False if there is one of that name.
  bool add_argument(std::string name, edge made) {
    return levels_.back().arguments.emplace(std::move(name), made).second;
  }

  /// A name hides what has it further outside, and a node's hides an argument's. Fails with
  /// not_found and proposes names.
  result<node*> find(std::string_view name) const;

private:
  struct level {
    graph* nodes;
    std::map<std::string, edge, std::less<>> arguments;
    bool is_closed;
  };
  std::vector<level> levels_; // each within the one before
};

} // namespace troupe
