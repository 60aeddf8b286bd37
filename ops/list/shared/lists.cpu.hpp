// What kernels on lists share.
#pragma once
#include "troupe/runtime/graph/kernel.hpp"
#include "troupe/runtime/types/tensor_list.hpp"

namespace troupe::ops {

/// The shape that input i says, a vector that may have -1, or the scalar -1, which says nothing.
result<partial_shape> element_shape(const kernel_context& at, int i);

/// The only element of input i, which must be a list.
result<const tensor_list*> list_at(const kernel_context& at, int i);
/// Makes output 0 the list of input 0: itself where nobody else needs it, else a copy. Changing the
/// copy changes no other list. Requires an op that is `forwardable`.
result<tensor_list*> changed_list(kernel_context& at);
/// Makes output `i` an empty list of the items' type and shape.
result<tensor_list*> new_list(kernel_context& at, int i, dtype type, partial_shape dims);

/// Fails where the list is one of another type.
status check_type(const tensor_list& of, dtype expected);
/// Fails where the list does not take such items.
status check_item(const tensor_list& of, const tensor& item);
/// Drops items from the end, or adds some that are not set. Bounded.
status resize(tensor_list& what, size_t items);
/// Adds an item that is checked already, if there is room.
status append(tensor_list& to, tensor item);
/// An item of a list, or the zeros that one stands for which was only reserved, of the shape that
/// the list's and `wanted` leave no doubt of.
result<tensor> item_of(kernel_context& at, const tensor_list& from, size_t index,
                       const partial_shape& wanted);

/// All items of a list with a new first axis. `wanted` is the shape of each, where it is not known.
result<tensor> stack_items(kernel_context& at, const tensor_list& from,
                           std::span<const int64_t> which, const partial_shape& wanted);

/// Joins items along their first axis, and makes that output 0, and their extents along it
/// output 1. `each` is what is known of their shapes, for where there are none.
status join_rows(kernel_context& at, std::span<const tensor> items, const partial_shape& each);
/// Cuts a tensor along its first axis into items of these lengths, which must add up to its extent.
result<std::vector<tensor>> cut_rows(kernel_context& at, const tensor& from, const tensor& lengths);

/// The same elements where they may wait for long: on the disk, if the device has one for that and
/// they are many.
result<tensor> swapped(const kernel_context& at, const tensor& what);

/// Zeros of a shape that must be fully known.
result<tensor> zeros(kernel_context& at, dtype type, const partial_shape& dims);
/// Zeros like the value, whose lists are lists of zeros.
result<tensor> zeros_like(const tensor& like, allocator& memory);
result<tensor> zeros_like(const tensor& like, list_budget& left, allocator& memory);
/// Adds the elements of one tensor to those of another of the same type and shape, which is a copy
/// from then on where somebody else has it, too.
status add_to_item(const tensor& from, tensor& to, allocator& memory);
/// AddN of lists of equal length: adds up their items.
status add_lists(kernel_context& at);

} // namespace troupe::ops
