// A few ops for tests that need graphs, not arithmetic.
#pragma once
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/registry.hpp"

#include <cstdlib>

namespace troupe::test {

inline result<shapes> infer_const(const infer_context& at) {
  return shapes{partial_shape{at.attr<tensor>("value").dims()}};
}

inline constexpr op_def const_op{
    .name = "Const",
    .doc = "Gives its value.",
    .outputs = {{"output", "dtype"}},
    .attrs = {{"value", attr_kind::tensor}, {"dtype", any_type}},
    .infer = infer_const,
};

inline constexpr op_def placeholder_op{
    .name = "Placeholder",
    .doc = "Is fed.",
    .outputs = {{"output", "dtype"}},
    .attrs = {{"dtype", any_type}, {"shape", attr_kind::shape, true}},
    .infer = infer::shape_attr,
};

inline constexpr op_def add_op{
    .name = "Add",
    .doc = "Adds.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", numbers}},
    .infer = infer::broadcast_inputs,
};

inline result<shapes> infer_two(const infer_context& at) {
  return shapes{at.input(0), at.input(0)};
}

inline constexpr op_def two_op{
    .name = "Two",
    .doc = "Gives its input twice.",
    .inputs = {{"x", "T"}},
    .outputs = {{"a", "T"}, {"b", "T"}},
    .attrs = {{"T", any_type}},
    .infer = infer_two,
};

inline constexpr op_def no_op{.name = "NoOp", .doc = "Nothing.", .infer = infer::nothing};

/// An attribute of every kind.
inline constexpr op_def kinds_op{
    .name = "Kinds",
    .doc = "Has an attribute of every kind.",
    .attrs = {{"boolean", attr_kind::boolean, true},
              {"integer", attr_kind::integer, true},
              {"real", attr_kind::real, true},
              {"text", attr_kind::text, true},
              {"type", any_type, dtype::f32},
              {"shape", attr_kind::shape, true},
              {"integers", attr_kind::integers, true},
              {"reals", attr_kind::reals, true},
              {"texts", attr_kind::texts, true},
              {"types", attr_kind::types, true},
              {"shapes", attr_kind::shapes, true}},
    .infer = infer::nothing,
};

inline const registry& small_registry() {
  static const registry ops = [] {
    registry small_ops;
    for (const auto* op : {&const_op, &placeholder_op, &add_op, &two_op, &no_op, &kinds_op})
      if (auto added = small_ops.add(*op); !added.ok())
        std::abort();
    return small_ops;
  }();
  return ops;
}

} // namespace troupe::test
