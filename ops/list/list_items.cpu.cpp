#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/list/shared/lists.cpu.hpp"

namespace troupe::ops::list_items_cpu {
namespace {

status run_empty(kernel_context& at) {
  if (at.input(1).rank() != 0)
    return invalid("max_num_elements must be a scalar, got shape ", at.input(1).dims());
  TROUPE_ASSIGN(auto dims, element_shape(at, 0));
  TROUPE_ASSIGN(auto* list, new_list(at, 0, at.state<dtype>(), std::move(dims)));
  list->max_items = to_integers(at.input(1))[0];
  return {};
}

status run_push(kernel_context& at) {
  TROUPE_ASSIGN(const auto* list, list_at(at, 0));
  TROUPE_TRY(check_item(*list, at.input(1)));
  auto item = at.input(1); // may share the list
  TROUPE_ASSIGN(auto* grown_list, changed_list(at));
  return append(*grown_list, std::move(item));
}

status run_pop(kernel_context& at) {
  TROUPE_ASSIGN(const auto* list, list_at(at, 0));
  if (list->items.empty())
    return failure(error_kind::failed_precondition, "the list has no items to take off");
  TROUPE_TRY(check_type(*list, at.output_type(1)));
  TROUPE_ASSIGN(auto dims, element_shape(at, 1));
  TROUPE_ASSIGN(auto item, item_of(at, *list, list->items.size() - 1, dims));
  TROUPE_ASSIGN(auto* shortened_list, changed_list(at));
  shortened_list->items.pop_back();
  at.set_output(1, std::move(item));
  return {};
}

result<size_t> count_at(const kernel_context& at, int i, std::string_view name) {
  if (at.input(i).rank() != 0)
    return invalid(name, " must be a scalar, got shape ", at.input(i).dims());
  auto count = *at.input(i).data<int32_t>();
  if (count < 0)
    return invalid(name, " must not be negative, got ", count);
  return static_cast<size_t>(count);
}

// A position in a list of this many items.
result<size_t> index_at(const kernel_context& at, size_t items) {
  TROUPE_ASSIGN(auto index, count_at(at, 1, "index"));
  if (index >= items)
    return invalid("there is no item ", index, " in a list of ", items);
  return index;
}

status run_reserve(kernel_context& at) {
  TROUPE_ASSIGN(auto dims, element_shape(at, 0));
  TROUPE_ASSIGN(auto count, count_at(at, 1, "num_elements"));
  TROUPE_ASSIGN(auto* list, new_list(at, 0, at.state<dtype>(), std::move(dims)));
  TROUPE_TRY(resize(*list, count));
  return {};
}

status run_resize(kernel_context& at) {
  TROUPE_ASSIGN(auto count, count_at(at, 1, "size"));
  TROUPE_ASSIGN(auto* list, changed_list(at));
  TROUPE_TRY(resize(*list, count));
  return {};
}

status run_get(kernel_context& at) {
  TROUPE_ASSIGN(const auto* list, list_at(at, 0));
  TROUPE_TRY(check_type(*list, at.output_type(0)));
  TROUPE_ASSIGN(auto index, index_at(at, list->items.size()));
  TROUPE_ASSIGN(auto dims, element_shape(at, 2));
  TROUPE_ASSIGN(auto item, item_of(at, *list, index, dims));
  at.set_output(0, std::move(item));
  return {};
}

status run_set(kernel_context& at) {
  TROUPE_ASSIGN(const auto* list, list_at(at, 0));
  TROUPE_TRY(check_item(*list, at.input(2)));
  auto size = list->items.size();
  if (at.state<bool>()) {
    TROUPE_ASSIGN(auto index, count_at(at, 1, "index"));
    size = std::max(size, index + 1);
  }
  TROUPE_ASSIGN(auto index, index_at(at, size));
  auto item = at.input(2);
  TROUPE_ASSIGN(auto* changed, changed_list(at));
  TROUPE_TRY(changed->admit(item));
  TROUPE_TRY(resize(*changed, size));
  changed->items[index] = std::move(item);
  return {};
}

status run_element_shape(kernel_context& at) {
  TROUPE_ASSIGN(const auto* list, list_at(at, 0));
  auto extents = list->dims.extents();
  auto has_known_rank = list->dims.has_rank();
  TROUPE_ASSIGN(
      auto* out,
      at.allocate(0, has_known_rank ? shape{static_cast<int64_t>(extents.size())} : shape{}));
  auto write_extents = [&](auto* to) {
    *to = -1;
    if (has_known_rank)
      std::ranges::copy(extents, to);
  };
  if (out->type() == dtype::i32) {
    if (!has_known_rank || !extents.empty())
      write_extents(out->data<int32_t>());
  } else if (!has_known_rank || !extents.empty()) {
    write_extents(out->data<int64_t>());
  }
  return {};
}

status run_list_length(kernel_context& at) {
  TROUPE_ASSIGN(const auto* list, list_at(at, 0));
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{}));
  *out->data<int32_t>() = static_cast<int32_t>(list->items.size());
  return {};
}

} // namespace

extern constexpr kernel_def empty_tensor_list_cpu{
    .op = "EmptyTensorList",
    .run = {{dtype::none, run_empty}},
    .prepare = cache_attr<dtype, "element_dtype">,
};

extern constexpr kernel_def tensor_list_push_back_cpu{
    .op = "TensorListPushBack",
    .run = {{dtype::none, run_push}},
};

extern constexpr kernel_def tensor_list_pop_back_cpu{
    .op = "TensorListPopBack",
    .run = {{dtype::none, run_pop}},
};

extern constexpr kernel_def tensor_list_reserve_cpu{
    .op = "TensorListReserve",
    .run = {{dtype::none, run_reserve}},
    .prepare = cache_attr<dtype, "element_dtype">,
};

extern constexpr kernel_def tensor_list_resize_cpu{
    .op = "TensorListResize",
    .run = {{dtype::none, run_resize}},
};

extern constexpr kernel_def tensor_list_get_item_cpu{
    .op = "TensorListGetItem",
    .run = {{dtype::none, run_get}},
};

extern constexpr kernel_def tensor_list_set_item_cpu{
    .op = "TensorListSetItem",
    .run = {{dtype::none, run_set}},
    .prepare = cache_attr<bool, "resize_if_index_out_of_bounds">,
};

extern constexpr kernel_def tensor_list_element_shape_cpu{
    .op = "TensorListElementShape",
    .run = {{dtype::none, run_element_shape}},
};

extern constexpr kernel_def tensor_list_length_cpu{
    .op = "TensorListLength",
    .run = {{dtype::none, run_list_length}},
};

} // namespace troupe::ops::list_items_cpu
