// Loops over the first axis of tensors: map, fold, scan and recurrent nets, with gradients. All are
// while_loop (control_flow.hpp) over lists.
#pragma once
#include "troupe/api/control_flow.hpp"

namespace troupe {

/// How a loop over slices runs.
struct scan_options {
  std::string_view name = {};
  bool reverse = false; ///< from the last slice to the first; outputs stay beside their slices
  int64_t parallel_iterations = 10; ///< turns under way at once, at most, where turns overlap
  bool recompute = false;           ///< for gradients, instead of keeping: while_options
  bool swap_memory = false;         ///< keeps for gradients in files: while_options
};

/// What one turn gives.
struct scan_turn {
  std::vector<edge> carry;        ///< for the next turn; of the same types
  std::vector<edge> outputs = {}; ///< of this turn: one shape in all turns
};

struct scanned {
  std::vector<edge> carry;   ///< of the last turn; what it was at first where there are no slices
  std::vector<edge> outputs; ///< of all turns, with a new first axis
};

/// Goes through the slices of tensors along their first axis, which is equally long in all: each
/// turn gets what the turn before has carried, and a slice of each.
///
///     auto sums = scan({g.constant(0.0f)}, {x}, [](auto& carry, auto& slices) -> scan_turn {
///       auto sum = carry[0] + slices[0];
///       return {{sum}, {sum}};
///     }).outputs[0];
///
/// Memory and time are linear in the number of turns, those of gradients as well.
TROUPE_API scanned scan(const std::vector<edge>& initial, const std::vector<edge>& xs,
                        const std::function<scan_turn(const std::vector<edge>& carry,
                                                      const std::vector<edge>& slices)>& turn,
                        const scan_options& options = {},
                        std::source_location where = std::source_location::current());

/// What `f` returns for each slice of the xs, with a new first axis.
TROUPE_API std::vector<edge>
map(const std::vector<edge>& xs,
    const std::function<std::vector<edge>(const std::vector<edge>& slices)>& f,
    const scan_options& options = {}, std::source_location where = std::source_location::current());

/// What `f` carries through all slices of the xs.
TROUPE_API std::vector<edge>
fold(const std::vector<edge>& initial, const std::vector<edge>& xs,
     const std::function<std::vector<edge>(const std::vector<edge>& carry,
                                           const std::vector<edge>& slices)>& f,
     const scan_options& options = {},
     std::source_location where = std::source_location::current());

/// What one step of a recurrent net gives: its new state, and outputs.
using recurrent_cell = std::function<scan_turn(edge x, const std::vector<edge>& state)>;

struct recurrent_options {
  std::string_view name = {};
  /// [batch], i32 or i64: how many steps of each sequence count. Behind them the state stays as it
  /// was, and outputs are zero. Nothing: all count.
  edge lengths = {};
  bool reverse = false;     ///< from the end of each sequence to its begin
  bool recompute = false;   ///< for gradients, instead of keeping: while_options
  bool swap_memory = false; ///< keeps for gradients in files: while_options
};

/// Runs a recurrent net over sequences `x` [time, batch, ...] of any length: the number of steps is
/// known when the graph runs. State and outputs are [batch, ...]. Gradients flow through all steps.
TROUPE_API scanned dynamic_rnn(edge x, const std::vector<edge>& state, const recurrent_cell& cell,
                               const recurrent_options& options = {},
                               std::source_location where = std::source_location::current());

/// The outputs and last states of a net that goes forward and one that goes back.
struct both_directions {
  scanned forward, backward;
};

/// Runs two recurrent nets over sequences, one in each direction; outputs stand at the steps that
/// they belong to.
TROUPE_API both_directions
bidirectional_rnn(edge x, const std::vector<edge>& forward_state, const recurrent_cell& forward,
                  const std::vector<edge>& backward_state, const recurrent_cell& backward,
                  const recurrent_options& options = {},
                  std::source_location where = std::source_location::current());

} // namespace troupe
