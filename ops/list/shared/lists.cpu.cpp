#include "troupe/ops/list/shared/lists.cpu.hpp"

#include "troupe/devices/cpu/swap_space.hpp"
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/state/slices.hpp"

#include <algorithm>

namespace troupe::ops {

result<partial_shape> element_shape(const kernel_context& at, int i) {
  const auto& listed = at.input(i);
  if (listed.rank() > 1)
    return invalid("element_shape must be a vector or the scalar -1, got shape ", listed.dims());
  auto extents = to_integers(listed);
  if (listed.rank() == 1)
    return partial_shape::make({extents.data(), extents.size()});
  if (extents[0] != -1)
    return invalid("element_shape must be a vector or the scalar -1, got ", extents[0]);
  return partial_shape::unknown();
}

result<const tensor_list*> list_at(const kernel_context& at, int i) {
  const auto& input = at.input(i);
  if (input.type() != dtype::variant || input.rank() != 0)
    return invalid("input ", i, " must be a list, got ", input.type(), input.dims());
  if (const auto& object = input.data<tensor_list>()->object)
    return invalid("input ", i, " must be a list, got a handle of ", object->description());
  return input.data<tensor_list>();
}

result<tensor_list*> changed_list(kernel_context& at) {
  TROUPE_TRY(list_at(at, 0).status());
  TROUPE_ASSIGN(auto* out, at.forward_or_allocate(0, {0}, shape{}));
  auto* list = out->data<tensor_list>();
  if (out->raw() != at.input(0).raw())
    *list = *at.input(0).data<tensor_list>();
  return list;
}

result<tensor_list*> new_list(kernel_context& at, int i, dtype type, partial_shape dims) {
  TROUPE_ASSIGN(auto* out, at.allocate(i, shape{}));
  auto* list = out->data<tensor_list>();
  list->type = type;
  list->dims = std::move(dims);
  return list;
}

status check_type(const tensor_list& list, dtype expected) {
  return list.type == expected
             ? status{}
             : invalid("the list has items of ", list.type, ", element_dtype says ", expected);
}

status check_item(const tensor_list& list, const tensor& item) {
  if (item.type() != list.type)
    return invalid("a list of ", list.type, list.dims, " cannot take ", item.type(), item.dims());
  if (!list.dims.compatible(item.dims()))
    return invalid("a list of ", list.type, list.dims, " cannot take an item of shape ",
                   item.dims());
  return {};
}

status resize(tensor_list& list, size_t items) {
  constexpr size_t max_items = 1u << 24;
  if (items > max_items)
    return failure(error_kind::resource_exhausted, "a list has at most ", max_items,
                   " items, wanted ", items);
  list.items.resize(items);
  return {};
}

status append(tensor_list& to, tensor item) {
  if (to.max_items >= 0 && static_cast<int64_t>(to.items.size()) >= to.max_items)
    return failure(error_kind::failed_precondition, "the list has its ", to.max_items,
                   " items already: max_num_elements allows no more");
  TROUPE_TRY(to.admit(item));
  TROUPE_TRY(resize(to, to.items.size() + 1));
  to.items.back() = std::move(item);
  return {};
}

result<tensor> item_of(kernel_context& at, const tensor_list& from, size_t index,
                       const partial_shape& known_dims) {
  const auto& item = from.items[index];
  if (!item.empty()) {
    if (!known_dims.compatible(item.dims()))
      return invalid("item ", index, " has shape ", item.dims(), ", element_shape says ",
                     known_dims);
    return item;
  }
  auto dims = merge(from.dims, known_dims);
  if (!dims)
    return dims.status().with_context("element_shape");
  if (!dims->fully_known()) {
    // It has the shape of another item.
    for (const auto& other_item : from.items)
      if (!other_item.empty() && dims->compatible(other_item.dims()))
        return zeros_like(other_item, at.memory());
    return invalid("item ", index, " has not been set, and its shape ", *dims,
                   " is not known: say it as element_shape");
  }
  return zeros(at, from.type, *dims);
}

result<tensor> stack_items(kernel_context& at, const tensor_list& from,
                           std::span<const int64_t> positions, const partial_shape& known_dims) {
  auto dims = merge(from.dims, known_dims);
  if (!dims)
    return dims.status().with_context("element_shape");
  std::vector<tensor> items;
  for (auto index : positions) {
    TROUPE_ASSIGN(auto item, item_of(at, from, static_cast<size_t>(index), *dims));
    items.push_back(std::move(item));
  }
  std::vector<const tensor*> parts;
  for (const auto& item : items)
    parts.push_back(&item);
  return stack(parts, {.type = from.type, .dims = *dims}, at.memory());
}

status join_rows(kernel_context& at, std::span<const tensor> items,
                 const partial_shape& item_dims) {
  int64_t rows = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    const auto& item = items[i];
    if (item.rank() == 0)
      return invalid("item ", i, " is a scalar, and has no first axis: stack them instead");
    if (!(without_first_axis(item.dims()) == without_first_axis(items[0].dims())))
      return invalid("item ", i, " has shape ", item.dims(), ", which does not fit behind ",
                     items[0].dims());
    rows += item.dims()[0];
  }
  std::vector<int64_t> extents{rows};
  if (!items.empty()) {
    auto row_dims = without_first_axis(items[0].dims());
    extents.insert(extents.end(), row_dims.begin(), row_dims.end());
  } else if (item_dims.has_rank() && item_dims.rank() > 0 &&
             std::ranges::count(item_dims.extents().subspan(1), unknown_extent) == 0) {
    extents.insert(extents.end(), item_dims.extents().begin() + 1, item_dims.extents().end());
  } else {
    return invalid("where there are no items, element_shape must say what shape they would have");
  }
  TROUPE_ASSIGN(auto dims, shape::make(extents));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  TROUPE_ASSIGN(auto* lengths, at.allocate(1, shape{static_cast<int64_t>(items.size())}));
  auto row = without_first_axis(dims).elements();
  int64_t next = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    auto count = items[i].dims()[0];
    for (int64_t k = 0; k < count; ++k)
      copy_slice(items[i], k, *out, next++, row);
    lengths->data<int64_t>()[i] = count;
  }
  return {};
}

result<std::vector<tensor>> cut_rows(kernel_context& at, const tensor& from,
                                     const tensor& lengths) {
  if (from.rank() == 0 || lengths.rank() != 1)
    return invalid("what is split must have an axis, and lengths must be a vector, got shapes ",
                   from.dims(), " and ", lengths.dims());
  auto counts = to_integers(lengths);
  int64_t rows = 0;
  for (auto count : counts) {
    if (count < 0 || count > from.dims()[0] - rows)
      return invalid("lengths must add up to the ", from.dims()[0], " rows of what is split, and ",
                     count, " follows ", rows);
    rows += count;
  }
  if (rows != from.dims()[0])
    return invalid("lengths add up to ", rows, ", and what is split has ", from.dims()[0], " rows");
  auto row = without_first_axis(from.dims()).elements();
  std::vector<tensor> items;
  int64_t next = 0;
  for (auto count : counts) {
    auto item_dims = from.dims();
    item_dims.set(0, count);
    TROUPE_ASSIGN(auto item, tensor::make(from.type(), item_dims, at.memory()));
    for (int64_t k = 0; k < count; ++k)
      copy_slice(from, next++, item, k, row);
    items.push_back(std::move(item));
  }
  return items;
}

result<tensor> swapped(const kernel_context& at, const tensor& value) {
  auto* space = at.device().swap();
  return space ? space->move_to_disk(value) : value;
}

result<tensor> zeros(kernel_context& at, dtype type, const partial_shape& dims) {
  if (!dims.fully_known())
    return invalid("zeros of ", type, " need a shape that is known, got ", dims);
  TROUPE_ASSIGN(auto filled, tensor::make(type, dims.known(), at.memory()));
  if (type == dtype::variant)
    return filled;
  TROUPE_ASSIGN(auto zero, zero_of(type));
  fill_elements(zero, {filled}, filled.elements());
  return filled;
}

result<tensor> zeros_like(const tensor& value, allocator& memory) {
  list_budget budget;
  return zeros_like(value, budget, memory);
}

result<tensor> zeros_like(const tensor& value, list_budget& budget, allocator& memory) {
  TROUPE_TRY(budget.count_item());
  TROUPE_ASSIGN(auto filled, tensor::make(value.type(), value.dims(), memory));
  if (value.type() != dtype::variant) {
    TROUPE_ASSIGN(auto zero, zero_of(value.type()));
    fill_elements(zero, {filled}, filled.elements());
    return filled;
  }
  auto from = value.values<tensor_list>();
  for (size_t i = 0; i < from.size(); ++i) {
    auto& list = filled.data<tensor_list>()[i];
    list = from[i];
    for (auto& item : list.items) {
      if (item.empty())
        continue;
      TROUPE_ASSIGN(item, zeros_like(item, budget, memory));
    }
  }
  return filled;
}

} // namespace troupe::ops
