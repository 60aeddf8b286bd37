#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/list/shared/lists.cpu.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/state/slices.hpp"

#include <numeric>

namespace troupe::ops::list_tensors_cpu {
namespace {

status run_stack(kernel_context& at) {
  TROUPE_ASSIGN(const auto* list, list_at(at, 0));
  TROUPE_TRY(check_type(*list, at.output_type(0)));
  auto count = static_cast<int64_t>(list->items.size());
  if (auto expected_count = at.state<int64_t>(); expected_count >= 0 && expected_count != count)
    return invalid("the list has ", count, " items, num_elements says ", expected_count);
  TROUPE_ASSIGN(auto dims, element_shape(at, 1));
  std::vector<int64_t> positions(list->items.size());
  std::iota(positions.begin(), positions.end(), 0);
  TROUPE_ASSIGN(auto stacked, stack_items(at, *list, positions, dims));
  at.set_output(0, std::move(stacked));
  return {};
}

status check_slices(const tensor& from, const partial_shape& dims) {
  if (from.rank() == 0)
    return invalid("a scalar has no items: tensor needs an axis");
  if (auto slice_dims = without_first_axis(from.dims()); !dims.compatible(slice_dims))
    return invalid("the slices of tensor have shape ", slice_dims, ", element_shape says ", dims);
  return {};
}

status run_from_tensor(kernel_context& at) {
  const auto& from = at.input(0);
  TROUPE_ASSIGN(auto dims, element_shape(at, 1));
  TROUPE_TRY(check_slices(from, dims));
  TROUPE_ASSIGN(auto* list, new_list(at, 0, from.type(), std::move(dims)));
  for (int64_t i = 0; i < from.dims()[0]; ++i) {
    TROUPE_ASSIGN(auto item, slice_of(from, i, at.memory()));
    TROUPE_TRY(append(*list, std::move(item)));
  }
  return {};
}

result<integer_list> indices_at(const kernel_context& at, int i) {
  if (at.input(i).rank() != 1)
    return invalid("indices must be a vector, got shape ", at.input(i).dims());
  auto index_list = to_integers(at.input(i));
  for (auto index_value : index_list)
    if (index_value < 0)
      return invalid("indices must not be negative, got ", index_value);
  return index_list;
}

status run_gather(kernel_context& at) {
  TROUPE_ASSIGN(const auto* list, list_at(at, 0));
  TROUPE_TRY(check_type(*list, at.output_type(0)));
  TROUPE_ASSIGN(auto indices, indices_at(at, 1));
  for (auto index_value : indices)
    if (index_value >= static_cast<int64_t>(list->items.size()))
      return invalid("there is no item ", index_value, " in a list of ", list->items.size());
  TROUPE_ASSIGN(auto dims, element_shape(at, 2));
  TROUPE_ASSIGN(auto stacked, stack_items(at, *list, {indices.data(), indices.size()}, dims));
  at.set_output(0, std::move(stacked));
  return {};
}

// Writes the slices of a tensor to these positions, for which there must be room.
status scatter(kernel_context& at, const tensor& from, const integer_list& indices,
               tensor_list& to) {
  if (from.rank() == 0 || from.dims()[0] != static_cast<int64_t>(indices.size()))
    return invalid("tensor must have one slice for each of ", indices.size(),
                   " indices, got shape ", from.dims());
  for (size_t i = 0; i < indices.size(); ++i) {
    TROUPE_ASSIGN(auto item, slice_of(from, static_cast<int64_t>(i), at.memory()));
    TROUPE_TRY(check_item(to, item));
    TROUPE_TRY(to.admit(item));
    to.items[static_cast<size_t>(indices[i])] = std::move(item);
  }
  return {};
}

size_t room_for(const integer_list& indices) {
  int64_t item_count = 0;
  for (auto index_value : indices)
    item_count = std::max(item_count, index_value + 1);
  return static_cast<size_t>(item_count);
}

status run_scatter(kernel_context& at) {
  TROUPE_ASSIGN(auto indices, indices_at(at, 1));
  TROUPE_ASSIGN(auto dims, element_shape(at, 2));
  auto room = room_for(indices);
  if (at.inputs() == 4) {
    if (at.input(3).rank() != 0)
      return invalid("num_elements must be a scalar, got shape ", at.input(3).dims());
    auto num_elements = to_integers(at.input(3))[0];
    if (num_elements >= 0 && num_elements < static_cast<int64_t>(room))
      return invalid("there is no item ", room - 1, " among num_elements=", num_elements);
    if (num_elements >= 0)
      room = static_cast<size_t>(num_elements);
  }
  TROUPE_ASSIGN(auto* list, new_list(at, 0, at.input(0).type(), std::move(dims)));
  TROUPE_TRY(resize(*list, room));
  return scatter(at, at.input(0), indices, *list);
}

status run_scatter_into(kernel_context& at) {
  TROUPE_ASSIGN(auto indices, indices_at(at, 2));
  auto from = at.input(1);
  TROUPE_ASSIGN(auto* list, changed_list(at));
  TROUPE_TRY(resize(*list, std::max(list->items.size(), room_for(indices))));
  return scatter(at, from, indices, *list);
}

// The first axis of `item_shape` is ignored.
status concat(kernel_context& at, const partial_shape& item_shape,
              std::span<const int64_t> leading) {
  TROUPE_ASSIGN(const auto* list, list_at(at, 0));
  TROUPE_TRY(check_type(*list, at.output_type(0)));
  std::vector<tensor> items;
  for (size_t i = 0; i < list->items.size(); ++i) {
    auto one_shape = item_shape;
    if (list->items[i].empty() && i < leading.size() && one_shape.has_rank() &&
        one_shape.rank() > 0)
      one_shape.set(0, leading[i]);
    TROUPE_ASSIGN(auto item, item_of(at, *list, i, one_shape));
    items.push_back(std::move(item));
  }
  auto known_shape = item_shape;
  if (items.empty()) {
    TROUPE_ASSIGN(known_shape, merge(item_shape, list->dims));
  }
  return join_rows(at, items, known_shape);
}

status run_concat(kernel_context& at) { return concat(at, at.state<partial_shape>(), {}); }

status run_concat_v2(kernel_context& at) {
  TROUPE_ASSIGN(auto dims, element_shape(at, 1));
  if (dims.has_rank() && dims.rank() > 0)
    dims.set(0, unknown_extent);
  if (at.input(2).rank() != 1)
    return invalid("leading_dims must be a vector, got shape ", at.input(2).dims());
  auto leading = to_integers(at.input(2));
  for (auto extent : leading)
    if (extent < -1)
      return invalid("leading_dims must not be negative, got ", extent);
  return concat(at, dims, {leading.data(), leading.size()});
}

status run_split(kernel_context& at) {
  TROUPE_ASSIGN(auto dims, element_shape(at, 1));
  TROUPE_ASSIGN(auto items, cut_rows(at, at.input(0), at.input(2)));
  TROUPE_ASSIGN(auto* list, new_list(at, 0, at.input(0).type(), std::move(dims)));
  for (auto& item : items) {
    TROUPE_TRY(check_item(*list, item));
    TROUPE_TRY(append(*list, std::move(item)));
  }
  return {};
}

status run_push_batch(kernel_context& at) {
  const auto& lists = at.input(0);
  const auto from = at.input(1);
  if (lists.rank() != 1 || from.rank() == 0 || from.dims()[0] != lists.dims()[0])
    return invalid("tensor must have one slice for each list of a vector, got shapes ",
                   lists.dims(), " and ", from.dims());
  TROUPE_ASSIGN(auto* out, at.forward_or_allocate(0, {0}, lists.dims()));
  for (int64_t i = 0; i < lists.dims()[0]; ++i) {
    auto& list = out->data<tensor_list>()[i];
    if (out->raw() != lists.raw())
      list = lists.data<tensor_list>()[i];
    TROUPE_ASSIGN(auto item, slice_of(from, i, at.memory()));
    TROUPE_TRY(check_item(list, item));
    TROUPE_TRY(append(list, std::move(item)));
  }
  return {};
}

status run_concat_lists(kernel_context& at) {
  TROUPE_ASSIGN(const auto* first_list, list_at(at, 0));
  TROUPE_ASSIGN(const auto* second_list, list_at(at, 1));
  TROUPE_TRY(check_type(*first_list, at.state<dtype>()));
  TROUPE_TRY(check_type(*second_list, at.state<dtype>()));
  TROUPE_TRY(merge(first_list->dims, second_list->dims).status());
  auto items = second_list->items; // a copy, as both inputs may be the same list
  TROUPE_ASSIGN(auto* joined, changed_list(at));
  for (auto& item : items)
    if (item.empty())
      TROUPE_TRY(resize(*joined, joined->items.size() + 1));
    else
      TROUPE_TRY(append(*joined, std::move(item)));
  return {};
}

} // namespace

extern constexpr kernel_def tensor_list_stack_cpu{
    .op = "TensorListStack",
    .run = {{dtype::none, run_stack}},
    .prepare = cache_attr<int64_t, "num_elements">,
};

extern constexpr kernel_def tensor_list_from_tensor_cpu{
    .op = "TensorListFromTensor",
    .run = {{dtype::none, run_from_tensor}},
};

extern constexpr kernel_def tensor_list_gather_cpu{
    .op = "TensorListGather",
    .run = {{dtype::none, run_gather}},
};

extern constexpr kernel_def tensor_list_scatter_cpu{
    .op = "TensorListScatter",
    .run = {{dtype::none, run_scatter}},
};

extern constexpr kernel_def tensor_list_scatter_v2_cpu{
    .op = "TensorListScatterV2",
    .run = {{dtype::none, run_scatter}},
};

extern constexpr kernel_def tensor_list_scatter_into_existing_list_cpu{
    .op = "TensorListScatterIntoExistingList",
    .run = {{dtype::none, run_scatter_into}},
};

extern constexpr kernel_def tensor_list_concat_cpu{
    .op = "TensorListConcat",
    .run = {{dtype::none, run_concat}},
    .prepare = cache_attr<partial_shape, "element_shape">,
};

extern constexpr kernel_def tensor_list_concat_v2_cpu{
    .op = "TensorListConcatV2",
    .run = {{dtype::none, run_concat_v2}},
};

extern constexpr kernel_def tensor_list_split_cpu{
    .op = "TensorListSplit",
    .run = {{dtype::none, run_split}},
};

extern constexpr kernel_def tensor_list_push_back_batch_cpu{
    .op = "TensorListPushBackBatch",
    .run = {{dtype::none, run_push_batch}},
};

extern constexpr kernel_def tensor_list_concat_lists_cpu{
    .op = "TensorListConcatLists",
    .run = {{dtype::none, run_concat_lists}},
    .prepare = cache_attr<dtype, "element_dtype">,
};

} // namespace troupe::ops::list_tensors_cpu
