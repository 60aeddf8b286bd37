// What the ops for lookup tables share. TensorFlow has two versions of most, for tables whose
// handle is a Ref (HashTable) and a resource (HashTableV2); to us both are the table itself.
#pragma once
#include "troupe/ops/lookup/shared/lookup_table.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

inline constexpr std::string_view no_gradient_of_tables = "tables do not carry gradients";

/// Makes the table that a node stands for.
std::shared_ptr<named_state> make_table(const node& of, std::string name);
std::shared_ptr<named_state> make_constant_table(const node& of, std::string name);

result<shapes> infer_table(const infer_context& at);
result<shapes> infer_table_of_tensors(const infer_context& at);
result<shapes> infer_table_find(const infer_context& at);
result<shapes> infer_table_insert(const infer_context& at);
result<shapes> infer_table_remove(const infer_context& at);
result<shapes> infer_table_size(const infer_context& at);
result<shapes> infer_table_export(const infer_context& at);
result<shapes> infer_table_import(const infer_context& at);
result<shapes> infer_table_initialize(const infer_context& at);
result<shapes> infer_table_initialize_from_file(const infer_context& at);

constexpr port table_handle = ref("table_handle", "string", resource::table);

// These complete definitions; what is left out here is their own.

/// An op that stands for a table.
constexpr op_def table_maker(op_def own) {
  own.outputs = {table_handle};
  own.effects = effect::stateful;
  own.makes = resource::table;
  own.no_gradient = no_gradient_of_tables;
  return own;
}

/// An op that uses one.
constexpr op_def table_user(op_def own) {
  own.effects = effect::stateful;
  own.no_gradient = no_gradient_of_tables;
  return own;
}

} // namespace troupe::ops
