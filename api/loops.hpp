// Loops over the first axis of tensors: map, fold, scan and recurrent nets, with gradients. Each is
// a while_loop (control_flow.hpp) over lists.
#pragma once
#include "troupe/api/control_flow.hpp"

namespace troupe {

/// How a loop over slices runs.
struct scan_options {
  std::string_view name = {};
  bool reverse = false; ///< from the last slice to the first; outputs keep the order of the slices
  int64_t parallel_iterations = 10; ///< limit of iterations in progress, where iterations overlap
  bool recompute = false;           ///< see while_options
  bool swap_memory = false;         ///< see while_options
};

/// The results of one iteration.
struct scan_iteration {
  std::vector<edge> carry; ///< for the next iteration; of the same types
  std::vector<edge> outputs =
      {}; ///< of this iteration; their shapes are the same in all iterations
};

struct scan_result {
  std::vector<edge> carry;   ///< of the last iteration, or the initial one if there are no slices
  std::vector<edge> outputs; ///< of all iterations, stacked along a new first axis
};

/// Iterates over the slices of tensors along their first axis, whose extent must be equal in all.
/// Each iteration gets the carry of the previous one, and a slice of each tensor.
///
///     auto sums = scan({g.constant(0.0f)}, {x}, [](auto& carry, auto& slices) -> scan_iteration {
///       auto sum = carry[0] + slices[0];
///       return {{sum}, {sum}};
///     }).outputs[0];
///
/// Memory and time are linear in the number of iterations, also those of gradients.
TROUPE_API scan_result scan(
    const std::vector<edge>& initial, const std::vector<edge>& xs,
    const std::function<scan_iteration(const std::vector<edge>& carry,
                                       const std::vector<edge>& slices)>& body,
    const scan_options& options = {}, std::source_location where = std::source_location::current());

/// Applies `f` to each slice of the xs, and stacks the results along a new first axis.
TROUPE_API std::vector<edge>
map(const std::vector<edge>& xs,
    const std::function<std::vector<edge>(const std::vector<edge>& slices)>& f,
    const scan_options& options = {}, std::source_location where = std::source_location::current());

/// Folds `f` over the slices of the xs, and returns the last carry.
TROUPE_API std::vector<edge>
fold(const std::vector<edge>& initial, const std::vector<edge>& xs,
     const std::function<std::vector<edge>(const std::vector<edge>& carry,
                                           const std::vector<edge>& slices)>& f,
     const scan_options& options = {},
     std::source_location where = std::source_location::current());

/// One step of a recurrent net: returns its new state, and outputs.
using recurrent_cell = std::function<scan_iteration(edge x, const std::vector<edge>& state)>;

struct recurrent_options {
  std::string_view name = {};
  /// [batch], i32 or i64: the number of valid steps of each sequence. In later steps the state does
  /// not change, and outputs are zero. Empty: all steps are valid.
  edge lengths = {};
  bool reverse = false;     ///< from the end of each sequence to its beginning
  bool recompute = false;   ///< see while_options
  bool swap_memory = false; ///< see while_options
};

/// Runs a recurrent net over sequences `x` [time, batch, ...] of any length: the number of steps is
/// known when the graph runs. State and outputs are [batch, ...]. Gradients flow through all steps.
TROUPE_API scan_result dynamic_rnn(edge x, const std::vector<edge>& state,
                                   const recurrent_cell& cell,
                                   const recurrent_options& options = {},
                                   std::source_location where = std::source_location::current());

/// The outputs and last states of a forward net and a backward net.
struct bidirectional_result {
  scan_result forward, backward;
};

/// Runs two recurrent nets over sequences, one in each direction. The outputs of both are in the
/// order of the sequence.
TROUPE_API bidirectional_result
bidirectional_rnn(edge x, const std::vector<edge>& forward_state, const recurrent_cell& forward,
                  const std::vector<edge>& backward_state, const recurrent_cell& backward,
                  const recurrent_options& options = {},
                  std::source_location where = std::source_location::current());

} // namespace troupe
