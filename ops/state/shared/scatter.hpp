// What the ops share that change the elements of a variable which indices name.
#pragma once
#include "troupe/ops/kernel/rows.hpp"

namespace troupe::ops {

/// Indices are numbers of rows, and come with a row each, or one value for all elements.
result<shapes> infer_scatter(const infer_context& at);

/// The last axis of indices lists coordinates: of elements, or of the slices of the first few axes.
result<shapes> infer_scatter_nd(const infer_context& at);

/// Completes the definition of an op that changes rows; its own are name, doc, attributes, example.
constexpr op_def row_scatter(op_def own) {
  own.inputs = {ref("ref", "T"), {"indices", "Tindices"}, {"updates", "T"}};
  own.outputs = {ref("output_ref", "T")};
  own.effects = effect::stateful;
  own.infer = infer_scatter;
  own.by_handle.variable = "resource";
  own.by_handle.type = "dtype";
  own.by_handle.locks = true;
  own.no_gradient = "state does not carry gradients";
  return own;
}
/// The same for one that changes elements or slices.
constexpr op_def element_scatter(op_def own) {
  auto form = own.by_handle;
  own = row_scatter(own);
  own.infer = infer_scatter_nd;
  own.by_handle = form;
  return own;
}

/// What a kernel keeps of its node.
struct scatter_state {
  bool use_locking = true;
  bool ignores_bad_indices = false;
};
result<std::shared_ptr<void>> keep_scatter(const kernel_setup& setup);

/// Where the updates go: parts of `length` neighbours each, the i-th at part[i] * length; -1 where
/// its index is to be ignored.
struct scatter_plan {
  integer_list parts;
  int64_t length = 0;
};
result<scatter_plan> plan_scatter(const kernel_context& at, const tensor& value);
result<scatter_plan> plan_scatter_nd(const kernel_context& at, const tensor& value);

/// What must hold of the shapes of indices and updates for the latter; returns how many coordinates
/// an index has.
result<int> check_scatter_nd(const kernel_context& at, const tensor& value);

} // namespace troupe::ops
