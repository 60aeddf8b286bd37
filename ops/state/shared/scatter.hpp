// Shared by the ops that change the elements of a variable at indices.
#pragma once
#include "troupe/ops/kernel/rows.hpp"

namespace troupe::ops {

/// Indices are row numbers, with one row of updates per index, or a single value for all elements.
result<shapes> infer_scatter(const infer_context& at);

/// The last axis of indices lists coordinates: of elements, or of slices of the first axes.
result<shapes> infer_scatter_nd(const infer_context& at);

/// Completes the definition of an op that changes rows; name, doc, attributes and example are its
/// own.
constexpr op_def row_scatter(op_def def) {
  def.inputs = {ref("ref", "T"), {"indices", "Tindices"}, {"updates", "T"}};
  def.outputs = {ref("output_ref", "T")};
  def.effects = effect::stateful;
  def.infer = infer_scatter;
  def.by_handle.variable = "resource";
  def.by_handle.type = "dtype";
  def.by_handle.without_use_locking = true;
  def.no_gradient = "state does not carry gradients";
  return def;
}
/// The same for an op that changes elements or slices.
constexpr op_def element_scatter(op_def def) {
  auto form = def.by_handle;
  def = row_scatter(def);
  def.infer = infer_scatter_nd;
  def.by_handle = form;
  return def;
}

/// The attributes that a kernel keeps.
struct scatter_state {
  bool use_locking = true;
  bool ignores_bad_indices = false;
};
result<std::shared_ptr<void>> keep_scatter(const kernel_setup& setup);

/// The destinations of the updates: parts of `length` contiguous elements, the i-th at part[i] *
/// length; -1 for an ignored index.
struct scatter_plan {
  integer_list parts;
  int64_t length = 0;
};
result<scatter_plan> plan_scatter(const kernel_context& at, const tensor& value);
result<scatter_plan> plan_scatter_nd(const kernel_context& at, const tensor& value);

/// Checks the shapes of indices and updates for element scatters; returns the number of coordinates
/// per index.
result<int> check_scatter_nd(const kernel_context& at, const tensor& value);

} // namespace troupe::ops
