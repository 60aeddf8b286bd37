#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/list/shared/lists.cpu.hpp"

namespace troupe::ops::optional_cpu {
namespace {

// A list that accepts no items represents an empty optional.
constexpr int64_t without_value = 0;

status run_from_value(kernel_context& at) {
  TROUPE_ASSIGN(auto* list, new_list(at, 0, dtype::none, {}));
  for (int i = 0; i < at.inputs(); ++i)
    TROUPE_TRY(append(*list, at.input(i)));
  return {};
}

status run_none(kernel_context& at) {
  TROUPE_ASSIGN(auto* list, new_list(at, 0, dtype::none, {}));
  list->max_items = without_value;
  return {};
}

status run_has_value(kernel_context& at) {
  TROUPE_ASSIGN(const auto* list, list_at(at, 0));
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{}));
  *out->data<bool>() = list->max_items != without_value;
  return {};
}

status run_get_value(kernel_context& at) {
  const auto& expected_shapes = at.state<std::vector<partial_shape>>();
  TROUPE_ASSIGN(const auto* list, list_at(at, 0));
  if (list->max_items == without_value)
    return failure(error_kind::failed_precondition, "the optional has no value");
  if (static_cast<int>(list->items.size()) != at.outputs())
    return invalid("the optional has ", list->items.size(), " components, wanted ", at.outputs());
  for (int i = 0; i < at.outputs(); ++i) {
    const auto& item = list->items[static_cast<size_t>(i)];
    if (item.type() != at.output_type(i) ||
        !expected_shapes[static_cast<size_t>(i)].compatible(item.dims()))
      return invalid("component ", i, " is ", item.type(), item.dims(), ", wanted ",
                     at.output_type(i), expected_shapes[static_cast<size_t>(i)]);
    at.set_output(i, item);
  }
  return {};
}

} // namespace

extern constexpr kernel_def optional_from_value_cpu{
    .op = "OptionalFromValue",
    .run = {{dtype::none, run_from_value}},
};

extern constexpr kernel_def optional_none_cpu{
    .op = "OptionalNone",
    .run = {{dtype::none, run_none}},
};

extern constexpr kernel_def optional_has_value_cpu{
    .op = "OptionalHasValue",
    .run = {{dtype::none, run_has_value}},
};

extern constexpr kernel_def optional_get_value_cpu{
    .op = "OptionalGetValue",
    .run = {{dtype::none, run_get_value}},
    .prepare = cache_attr<std::vector<partial_shape>, "output_shapes">,
};

} // namespace troupe::ops::optional_cpu
