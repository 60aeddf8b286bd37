// Ops whose output shapes depend on the values of their inputs.
//
// The thread that launches GPU kernels does not know values. For a GPU, such a node therefore
// becomes two nodes (partition.cpp):
//
//     (counts, kept) = _SizeWhere(x)           a few numbers, copied to the host
//     y = _EmitWhere(x, kept, counts)          launched when they have arrived
//
// Both run the op's own kernel, which checks in which phase it runs.
#pragma once
#include "troupe/runtime/graph/op.hpp"

#include <memory>
#include <string>

namespace troupe {

/// The two phases of an op with data-dependent shapes. A registry creates them with the op.
///
/// The first has the op's inputs, and returns `counts`, a vector of i64, and `kept`, i64 of any
/// shape, which stays on the device. The second has the op's inputs, `kept` and `counts`, and
/// returns the op's outputs. The phases define the meaning of the numbers, except if the graph
/// knows the shapes of all outputs: then the second phase does not wait for the numbers, and they
/// are the first extents of the outputs.
struct two_phase_op {
  explicit two_phase_op(const op_def& original);
  two_phase_op(const two_phase_op&) = delete;
  two_phase_op& operator=(const two_phase_op&) = delete;

  static std::string name_of_first(std::string_view op);
  static std::string name_of_second(std::string_view op);

  const std::string first_name, second_name; // the definitions refer to these names
  const op_def first, second;
};

/// Returns whether an op is the first phase of another op.
bool is_first_phase(const op_def& candidate) noexcept;

/// Returns the name of the original op for a phase of it; other names are returned unchanged.
std::string_view original_op_name(std::string_view op) noexcept;

} // namespace troupe
