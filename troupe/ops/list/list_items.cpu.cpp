#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/list/shared/lists.cpu.hpp"

namespace troupe::ops::list_items_cpu {
namespace {

status run_empty(kernel_context& at) {
  if (at.input(1).rank() != 0)
    return invalid("max_num_elements must be a scalar, got shape ", at.input(1).dims());
  TROUPE_ASSIGN(auto dims, element_shape(at, 0));
  TROUPE_ASSIGN(auto* made, new_list(at, 0, at.state<dtype>(), std::move(dims)));
  made->most = to_integers(at.input(1))[0];
  return {};
}

status run_push(kernel_context& at) {
  TROUPE_ASSIGN(const auto* list, list_at(at, 0));
  TROUPE_TRY(check_item(*list, at.input(1)));
  auto item = at.input(1); // may be the list itself
  TROUPE_ASSIGN(auto* more, changed_list(at));
  return append(*more, std::move(item));
}

status run_pop(kernel_context& at) {
  TROUPE_ASSIGN(const auto* list, list_at(at, 0));
  if (list->items.empty())
    return failure(error_kind::failed_precondition, "the list has no items to take off");
  if (list->type != at.output_type(1))
    return invalid("the list has items of ", list->type, ", element_dtype says ",
                   at.output_type(1));
  TROUPE_ASSIGN(auto dims, element_shape(at, 1));
  TROUPE_ASSIGN(auto item, item_of(at, *list, list->items.size() - 1, dims));
  TROUPE_ASSIGN(auto* rest, changed_list(at));
  rest->items.pop_back();
  at.set_output(1, std::move(item));
  return {};
}

status run_length(kernel_context& at) {
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

extern constexpr kernel_def tensor_list_length_cpu{
    .op = "TensorListLength",
    .run = {{dtype::none, run_length}},
};

} // namespace troupe::ops::list_items_cpu
