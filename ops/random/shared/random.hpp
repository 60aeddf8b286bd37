// Shared by the definitions of random ops.
#pragma once
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

/// Output 0 has the shape that input i lists.
inline result<shapes> infer_drawn_like(const infer_context& at, int i) {
  TROUPE_ASSIGN(auto list, at.of_rank(i, 1));
  if (auto extents = at.integers(i)) {
    TROUPE_ASSIGN(auto dims, shape::make(*extents));
    return shapes{dims};
  }
  if (list[0] == unknown_extent)
    return shapes{partial_shape::unknown()};
  if (list[0] > max_rank)
    return at.invalid("a shape has at most ", max_rank, " extents, got ", list[0]);
  return shapes{partial_shape::of_rank(static_cast<int>(list[0]))};
}

/// The same with input 0.
inline result<shapes> infer_drawn(const infer_context& at) { return infer_drawn_like(at, 0); }

/// Inputs i and i + 1 are the bounds of the numbers: the lowest number, and the exclusive upper
/// bound.
inline status infer_range(const infer_context& at, int i) {
  TROUPE_TRY(at.of_rank(i, 0));
  TROUPE_TRY(at.of_rank(i + 1, 0));
  auto lowest = at.integers(i), bound = at.integers(i + 1);
  if (lowest && bound && lowest->front() >= bound->front())
    return at.invalid("minval must be less than maxval, got ", lowest->front(), " and ",
                      bound->front());
  return {};
}

/// Output 0 has the shape that input 0 lists, followed by the shape of input 1.
inline result<shapes> infer_drawn_for_each(const infer_context& at) {
  TROUPE_ASSIGN(auto output_shapes, infer_drawn(at));
  const auto &outer = output_shapes[0], &inner = at.input(1);
  if (!outer.has_rank() || !inner.has_rank())
    return shapes{partial_shape::unknown()};
  std::vector<int64_t> extents{outer.extents().begin(), outer.extents().end()};
  extents.insert(extents.end(), inner.extents().begin(), inner.extents().end());
  TROUPE_ASSIGN(auto joined, partial_shape::make(extents));
  return shapes{joined};
}

/// The same as infer_drawn, with two seeds as input 1.
inline result<shapes> infer_stateless(const infer_context& at) {
  TROUPE_ASSIGN(auto seeds, at.of_rank(1, 1));
  if (seeds[0] != unknown_extent && seeds[0] != 2)
    return at.invalid("seed must have two elements, got shape ", seeds);
  return infer_drawn(at);
}

/// Completes the form of an op whose numbers depend only on its inputs.
constexpr op_def stateless(op_def def) {
  def.inputs = {on_host("shape", "T"), {"seed", "Tseed"}};
  def.outputs = {{"output", "dtype"}};
  def.attrs = {{"dtype", floating, dtype::f32},
               {"T", index_types, dtype::i32},
               {"Tseed", index_types, dtype::i64}};
  def.effects = effect::random;
  def.infer = infer_stateless;
  def.no_gradient = "its output is drawn, and changes with no small change of an input";
  return def;
}

} // namespace troupe::ops
