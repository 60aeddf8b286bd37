// Lists of tensors, made and changed item by item: what functional loops collect (TensorFlow's
// TensorList ops).
#include "troupe/ops/list/shared/element_shape.hpp"

namespace troupe::ops::list_items_op {
namespace {

result<shapes> infer_empty(const infer_context& at) {
  TROUPE_TRY(listed_element_shape(at, 0).status());
  TROUPE_TRY(at.of_rank(1, 0).status());
  return shapes{shape{}};
}

result<shapes> infer_push(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0).status());
  return shapes{shape{}};
}

result<shapes> infer_pop(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0).status());
  TROUPE_ASSIGN(auto dims, listed_element_shape(at, 1));
  return shapes{shape{}, dims};
}

result<shapes> infer_length(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0).status());
  return shapes{shape{}};
}

edges push_gradient(gradient_context& at) {
  auto item = at.input(1);
  auto popped =
      build("TensorListPopBack", {at.output_gradient(0), element_shape_of(item)},
            {{"element_dtype", item.type()}});
  return {popped, popped ? edge{popped.node, 1} : edge{}};
}

edges pop_gradient(gradient_context& at) {
  return {build("TensorListPushBack", {at.output_gradient(0), at.output_gradient(1)}), {}};
}

} // namespace

extern constexpr op_def empty_tensor_list{
    .name = "EmptyTensorList",
    .doc = "Makes an empty list.\n\nItems must have the type and fit element_shape, a vector that "
           "may have -1, or the scalar -1. Where max_num_elements is not -1, there can be so many "
           "items at most.",
    .inputs = {on_host("element_shape", "shape_type"), on_host("max_num_elements", "i32")},
    .outputs = {{"handle", "variant"}},
    .attrs = {{"element_dtype", any_value}, {"shape_type", index_types}},
    .infer = infer_empty,
    .no_gradient = "an empty list depends on nothing",
    .example = R"(
list = EmptyTensorList(i32[2], i32(-1)) element_dtype=f32
more = TensorListPushBack(list, f32[1, 2])
n = TensorListLength(more)
fetch n = i32(1)
)",
};

extern constexpr op_def tensor_list_push_back{
    .name = "TensorListPushBack",
    .doc = "Adds an item to the end of a list.\n\nWhere nobody else needs the list as it was, it "
           "is changed in place.",
    .inputs = {{"input_handle", "variant"}, {"tensor", "element_dtype"}},
    .outputs = {{"output_handle", "variant"}},
    .attrs = {{"element_dtype", any_value}},
    .effects = effect::forwardable,
    .infer = infer_push,
    .gradient = push_gradient,
    .example = R"(
list = EmptyTensorList(i32[], i32(-1)) element_dtype=f32
one = TensorListPushBack(list, f32(1))
two = TensorListPushBack(one, f32(2))
rest, last = TensorListPopBack(two, i32[]) element_dtype=f32
fetch last = f32(2)
)",
};

extern constexpr op_def tensor_list_pop_back{
    .name = "TensorListPopBack",
    .doc = "Takes the last item off a list.\n\nGives the list without it, and the item. "
           "element_shape says of which shape one is that was only reserved.",
    .inputs = {{"input_handle", "variant"}, on_host("element_shape", "i32")},
    .outputs = {{"output_handle", "variant"}, {"tensor", "element_dtype"}},
    .attrs = {{"element_dtype", any_value}},
    .effects = effect::forwardable,
    .infer = infer_pop,
    .gradient = pop_gradient,
    .example = R"(
list = EmptyTensorList(i32[-1], i32(-1)) element_dtype=f32
more = TensorListPushBack(list, f32[7, 8])
rest, last = TensorListPopBack(more, i32[-1]) element_dtype=f32
n = TensorListLength(rest)
fetch last = f32[7, 8]
fetch n = i32(0)
)",
};

extern constexpr op_def tensor_list_length{
    .name = "TensorListLength",
    .doc = "Counts the items of a list, those that were only reserved included.",
    .inputs = {{"input_handle", "variant"}},
    .outputs = {{"length", "i32"}},
    .infer = infer_length,
    .no_gradient = "the number of items is a whole number",
    .example = R"(
list = EmptyTensorList(i32(-1), i32(-1)) element_dtype=string
n = TensorListLength(list)
fetch n = i32(0)
)",
};

} // namespace troupe::ops::list_items_op
