// The states that stateful kernels keep between runs, such as the position of a random generator.
#pragma once
#include "troupe/runtime/program/program.hpp"
#include "troupe/runtime/state/kernel_positions.hpp"

#include <map>
#include <mutex>
#include <string>

namespace troupe {

/// The states of one session on one device, one for each node, shared by all programs that run the
/// node, as long as the session lasts. A node of the same name with another op or other attributes
/// is another node, as of another graph: its state replaces the former state, which the programs
/// that use it keep. Any thread may call.
class kernel_states {
public:
  explicit kernel_states(kernel_positions awaited = {}) : awaited_(std::move(awaited)) {}

  /// Returns the node's state. The first call makes it, at the position that
  /// restore_positions() or set_initial_positions() set.
  result<std::shared_ptr<void>> find_or_make(const node& owner, const kernel_state_maker& make,
                                             const kernel_state_format* position = nullptr);

  /// Adds the positions of the states that have one.
  void add_positions(kernel_positions& to) const;

  /// Sets the positions of the states, also of nodes that have not been seen yet. Fails, naming the
  /// node, for a text that its kernel does not accept.
  status restore_positions(const kernel_positions& positions);
  /// The same, but only for nodes that have not been seen.
  void set_initial_positions(const kernel_positions& positions);

private:
  struct entry {
    const op_def* op = nullptr;
    attr_map attrs;
    std::shared_ptr<void> state;
    const kernel_state_format* position = nullptr;
  };
  mutable std::mutex mutex_;
  std::map<std::string, entry, std::less<>> by_name_;
  kernel_positions awaited_;
};

} // namespace troupe
