// What stateful kernels keep between their runs, such as how far a random op has come.
#pragma once
#include "troupe/runtime/program/program.hpp"
#include "troupe/runtime/state/kernel_positions.hpp"

#include <map>
#include <mutex>
#include <string>

namespace troupe {

/// The states of one session on one device: one for each node, whichever programs run it, as long
/// as the session lasts. A node of the same name with another op or other attributes is another
/// node, as of another graph: its state takes the place of the former one, which programs that hold
/// it keep. Any thread may call.
class kernel_states {
public:
  explicit kernel_states(kernel_positions awaited = {}) : awaited_(std::move(awaited)) {}

  /// Returns the node's state, from `make` at first sight: at the position that go_on() has said.
  result<std::shared_ptr<void>> find_or_make(const node& of, const kernel_state_maker& make,
                                             const kernel_position* position = nullptr);

  /// Where those of them stand that can say it.
  void add_positions(kernel_positions& to) const;

  /// They go on from there, and so will those of nodes that have not been seen. Fails, naming the
  /// node, for a text that its kernel does not understand.
  status go_on(const kernel_positions& from);
  /// The same, but only for nodes that have not been seen.
  void await(const kernel_positions& from);

private:
  struct entry {
    const op_def* op = nullptr;
    attr_map attrs;
    std::shared_ptr<void> state;
    const kernel_position* position = nullptr;
  };
  mutable std::mutex mutex_;
  std::map<std::string, entry, std::less<>> by_name_;
  kernel_positions awaited_;
};

} // namespace troupe
