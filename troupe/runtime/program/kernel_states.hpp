// What stateful kernels keep between their runs, such as how far a random op has come.
#pragma once
#include "troupe/runtime/program/program.hpp"

#include <map>
#include <string>

namespace troupe {

/// The states of one session on one device: one for each node, whichever programs run it, as long
/// as the session lasts. A node of the same name with another op or other attributes is another
/// node, as of another graph: its state takes the place of the former one, which programs that hold
/// it keep. Not thread-safe; the states are.
class kernel_states {
public:
  /// Returns the node's state, from `make` at first sight.
  result<std::shared_ptr<void>> find_or_make(const node& of, const kernel_state_maker& make);

private:
  struct entry {
    const op_def* op = nullptr;
    attr_map attrs;
    std::shared_ptr<void> state;
  };
  std::map<std::string, entry, std::less<>> by_name_;
};

} // namespace troupe
