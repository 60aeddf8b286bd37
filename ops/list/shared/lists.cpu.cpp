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
  const auto& found = at.input(i);
  if (found.type() != dtype::variant || found.rank() != 0)
    return invalid("input ", i, " must be a list, got ", found.type(), found.dims());
  if (const auto& object = found.data<tensor_list>()->object)
    return invalid("input ", i, " must be a list, got a handle of ", object->description());
  return found.data<tensor_list>();
}

result<tensor_list*> changed_list(kernel_context& at) {
  TROUPE_TRY(list_at(at, 0).status());
  TROUPE_ASSIGN(auto* out, at.forward_or_allocate(0, {0}, shape{}));
  auto* made = out->data<tensor_list>();
  if (out->raw() != at.input(0).raw())
    *made = *at.input(0).data<tensor_list>();
  return made;
}

result<tensor_list*> new_list(kernel_context& at, int i, dtype type, partial_shape dims) {
  TROUPE_ASSIGN(auto* out, at.allocate(i, shape{}));
  auto* made = out->data<tensor_list>();
  made->type = type;
  made->dims = std::move(dims);
  return made;
}

status check_type(const tensor_list& of, dtype expected) {
  return of.type == expected
             ? status{}
             : invalid("the list has items of ", of.type, ", element_dtype says ", expected);
}

status check_item(const tensor_list& of, const tensor& item) {
  if (item.type() != of.type)
    return invalid("a list of ", of.type, of.dims, " cannot take ", item.type(), item.dims());
  if (!of.dims.compatible(item.dims()))
    return invalid("a list of ", of.type, of.dims, " cannot take an item of shape ", item.dims());
  return {};
}

status resize(tensor_list& what, size_t items) {
  constexpr size_t most = 1u << 24;
  if (items > most)
    return failure(error_kind::resource_exhausted, "a list has at most ", most, " items, wanted ",
                   items);
  what.items.resize(items);
  return {};
}

status append(tensor_list& to, tensor item) {
  if (to.most >= 0 && static_cast<int64_t>(to.items.size()) >= to.most)
    return failure(error_kind::failed_precondition, "the list has its ", to.most,
                   " items already: max_num_elements allows no more");
  TROUPE_TRY(to.admit(item));
  TROUPE_TRY(resize(to, to.items.size() + 1));
  to.items.back() = std::move(item);
  return {};
}

result<tensor> item_of(kernel_context& at, const tensor_list& from, size_t index,
                       const partial_shape& wanted) {
  const auto& item = from.items[index];
  if (!item.empty()) {
    if (!wanted.compatible(item.dims()))
      return invalid("item ", index, " has shape ", item.dims(), ", element_shape says ", wanted);
    return item;
  }
  auto dims = merge(from.dims, wanted);
  if (!dims)
    return dims.status().within("element_shape");
  if (!dims->fully_known()) {
    // Its shape is that of its neighbours.
    for (const auto& other : from.items)
      if (!other.empty() && dims->compatible(other.dims()))
        return zeros_like(other, at.memory());
    return invalid("item ", index, " has not been set, and its shape ", *dims,
                   " is not known: say it as element_shape");
  }
  return zeros(at, from.type, *dims);
}

result<tensor> stack_items(kernel_context& at, const tensor_list& from,
                           std::span<const int64_t> which, const partial_shape& wanted) {
  auto dims = merge(from.dims, wanted);
  if (!dims)
    return dims.status().within("element_shape");
  std::vector<tensor> items;
  for (auto index : which) {
    TROUPE_ASSIGN(auto item, item_of(at, from, static_cast<size_t>(index), *dims));
    items.push_back(std::move(item));
  }
  std::vector<const tensor*> parts;
  for (const auto& one : items)
    parts.push_back(&one);
  return stack(parts, {.type = from.type, .dims = *dims}, at.memory());
}

status join_rows(kernel_context& at, std::span<const tensor> items, const partial_shape& each) {
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
    auto rest = without_first_axis(items[0].dims());
    extents.insert(extents.end(), rest.begin(), rest.end());
  } else if (each.has_rank() && each.rank() > 0 &&
             std::ranges::count(each.extents().subspan(1), unknown_extent) == 0) {
    extents.insert(extents.end(), each.extents().begin() + 1, each.extents().end());
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
  for (auto one : counts) {
    if (one < 0 || one > from.dims()[0] - rows)
      return invalid("lengths must add up to the ", from.dims()[0], " rows of what is split, and ",
                     one, " follows ", rows);
    rows += one;
  }
  if (rows != from.dims()[0])
    return invalid("lengths add up to ", rows, ", and what is split has ", from.dims()[0], " rows");
  auto row = without_first_axis(from.dims()).elements();
  std::vector<tensor> items;
  int64_t next = 0;
  for (auto count : counts) {
    auto each = from.dims();
    each.set(0, count);
    TROUPE_ASSIGN(auto item, tensor::make(from.type(), each, at.memory()));
    for (int64_t k = 0; k < count; ++k)
      copy_slice(from, next++, item, k, row);
    items.push_back(std::move(item));
  }
  return items;
}

result<tensor> swapped(const kernel_context& at, const tensor& what) {
  auto* space = at.device().swap();
  return space ? space->moved(what) : what;
}

result<tensor> zeros(kernel_context& at, dtype type, const partial_shape& dims) {
  if (!dims.fully_known())
    return invalid("zeros of ", type, " need a shape that is known, got ", dims);
  TROUPE_ASSIGN(auto made, tensor::make(type, dims.known(), at.memory()));
  if (type == dtype::variant)
    return made;
  TROUPE_ASSIGN(auto zero, zero_of(type));
  fill_elements(zero, {made}, made.elements());
  return made;
}

result<tensor> zeros_like(const tensor& like, allocator& memory) {
  list_budget left;
  return zeros_like(like, left, memory);
}

result<tensor> zeros_like(const tensor& like, list_budget& left, allocator& memory) {
  TROUPE_TRY(left.take());
  TROUPE_ASSIGN(auto made, tensor::make(like.type(), like.dims(), memory));
  if (like.type() != dtype::variant) {
    TROUPE_ASSIGN(auto zero, zero_of(like.type()));
    fill_elements(zero, {made}, made.elements());
    return made;
  }
  auto from = like.values<tensor_list>();
  for (size_t i = 0; i < from.size(); ++i) {
    auto& list = made.data<tensor_list>()[i];
    list = from[i];
    for (auto& item : list.items) {
      if (item.empty())
        continue;
      TROUPE_ASSIGN(item, zeros_like(item, left, memory));
    }
  }
  return made;
}

} // namespace troupe::ops
