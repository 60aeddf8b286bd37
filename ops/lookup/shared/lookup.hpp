// Shared by the ops on lookup tables. Most exist in two versions in TensorFlow, for tables whose
// handle is a Ref (HashTable) or a resource (HashTableV2). Here either handle is the table itself.
#pragma once
#include "troupe/ops/lookup/shared/lookup_table.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

inline constexpr std::string_view no_gradient_of_tables = "tables do not carry gradients";

/// Makes the table of a node.
std::shared_ptr<named_state> make_table(const node& from_node, std::string name);
std::shared_ptr<named_state> make_constant_table(const node& from_node, std::string name);

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

// These functions complete definitions; members that they do not set are the op's own.

/// An op that makes a table.
constexpr op_def table_maker(op_def def) {
  def.outputs = {table_handle};
  def.effects = effect::stateful;
  def.state_kind = resource::table;
  def.no_gradient = no_gradient_of_tables;
  return def;
}

/// An op that uses a table.
constexpr op_def table_user(op_def def) {
  def.effects = effect::stateful;
  def.no_gradient = no_gradient_of_tables;
  return def;
}

} // namespace troupe::ops
