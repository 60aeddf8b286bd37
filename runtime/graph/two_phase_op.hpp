// Ops whose outputs have as many elements as the values of their inputs say.
//
// Whoever launches kernels of a GPU knows no values. There, such a node becomes two
// (partition.cpp):
//
//     (counts, kept) = _SizeWhere(x)           a few numbers, which go to the host
//     y = _EmitWhere(x, kept, counts)        launched when they are there
//
// Both run the kernel of the op itself, which asks which of the two it is at.
#pragma once
#include "troupe/runtime/graph/op.hpp"

#include <memory>
#include <string>

namespace troupe {

/// The two halves of an op that is sized by elements. A registry makes them with the op.
///
/// The first has the op's inputs, and gives `counts`, a vector of i64, and `kept`, i64 of any
/// shape, which stays on the device. The second has the op's inputs, `kept` and `counts`, and gives
/// the op's outputs. What the numbers mean is between the two, except where the graph knows the
/// shapes of all outputs: then nobody waits for them, and they are the first extents of the
/// outputs.
struct two_phase_op {
  explicit two_phase_op(const op_def& of);
  two_phase_op(const two_phase_op&) = delete;
  two_phase_op& operator=(const two_phase_op&) = delete;

  static std::string name_of_first(std::string_view op);
  static std::string name_of_second(std::string_view op);

  const std::string first_name, second_name; // the definitions only refer to names
  const op_def first, second;
};

/// Whether an op is the first half of another, rather than the second.
bool is_first_half(const op_def& of) noexcept;

/// The name that users know: that of the op, for one of its halves.
std::string_view users_name(std::string_view op) noexcept;

} // namespace troupe
