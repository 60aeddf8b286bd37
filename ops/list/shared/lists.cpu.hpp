// Shared by the kernels on lists.
#pragma once
#include "troupe/runtime/graph/kernel.hpp"
#include "troupe/runtime/types/tensor_list.hpp"

namespace troupe::ops {

/// The shape in input i: a vector that may contain -1, or the scalar -1 for an unknown shape.
result<partial_shape> element_shape(const kernel_context& at, int i);

/// The only element of input i, which must be a list.
result<const tensor_list*> list_at(const kernel_context& at, int i);
/// Makes output 0 the list of input 0: itself where it has no other user, otherwise a copy. Changes
/// of the copy do not affect other lists. Requires an op that is `forwardable`.
result<tensor_list*> changed_list(kernel_context& at);
/// Makes output `i` an empty list of the items' type and shape.
result<tensor_list*> new_list(kernel_context& at, int i, dtype type, partial_shape dims);

/// Fails where the list has another type.
status check_type(const tensor_list& list, dtype expected);
/// Fails where the list does not accept such an item.
status check_item(const tensor_list& list, const tensor& item);
/// Removes items from the end, or adds unset items. The size is limited.
status resize(tensor_list& list, size_t items);
/// Adds an item that has been checked, if there is room.
status append(tensor_list& to, tensor item);
/// An item of a list. A reserved item that was never set counts as zeros, of the shape that the
/// list and `known_dims` determine.
result<tensor> item_of(kernel_context& at, const tensor_list& from, size_t index,
                       const partial_shape& known_dims);

/// Stacks items of a list along a new first axis. `known_dims` is the known part of each item's
/// shape.
result<tensor> stack_items(kernel_context& at, const tensor_list& from,
                           std::span<const int64_t> positions, const partial_shape& known_dims);

/// Joins items along their first axis into output 0, and writes their extents along it to output 1.
/// `item_dims` is the known part of their shapes, for a list without items.
status join_rows(kernel_context& at, std::span<const tensor> items, const partial_shape& item_dims);
/// Splits a tensor along its first axis into items of these lengths, which must add up to its
/// extent.
result<std::vector<tensor>> cut_rows(kernel_context& at, const tensor& from, const tensor& lengths);

/// The same elements, prepared for long storage: on disk, if the device has swap space and there
/// are many.
result<tensor> swapped(const kernel_context& at, const tensor& value);

/// Zeros of a shape that must be fully known.
result<tensor> zeros(kernel_context& at, dtype type, const partial_shape& dims);
/// Zeros like the value; lists become lists of zeros.
result<tensor> zeros_like(const tensor& value, allocator& memory);
result<tensor> zeros_like(const tensor& value, list_budget& budget, allocator& memory);
/// Adds the elements of one tensor to another of the same type and shape. A shared target is
/// replaced by a copy first.
status add_to_item(const tensor& from, tensor& to, allocator& memory);
/// AddN of lists of equal length: adds their items.
status add_lists(kernel_context& at);

} // namespace troupe::ops
