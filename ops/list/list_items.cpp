// Lists of tensors, built and changed item by item, in which functional loops collect values
// (TensorFlow's TensorList ops).
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

result<shapes> infer_reserve(const infer_context& at) {
  TROUPE_TRY(listed_element_shape(at, 0).status());
  TROUPE_TRY(at.of_rank(1, 0).status());
  return shapes{shape{}};
}

result<shapes> infer_resize(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0).status());
  TROUPE_TRY(at.of_rank(1, 0).status());
  return shapes{shape{}};
}

result<shapes> infer_get(const infer_context& at) {
  TROUPE_TRY(infer_resize(at).status());
  TROUPE_ASSIGN(auto dims, listed_element_shape(at, 2));
  return shapes{dims};
}

// The number of extents depends on the list.
result<shapes> infer_element_shape(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0).status());
  return shapes{partial_shape::unknown()};
}

// The gradient's list, with zeros in place of the item.
edges get_gradient(gradient_context& at) {
  auto dy = at.output_gradient(0);
  auto zeros =
      build("TensorListReserve", {element_shape_of(dy), build("TensorListLength", {at.input(0)})},
            {{"element_dtype", dy.type()}});
  return {build("TensorListSetItem", {zeros, at.input(1), dy}), {}, {}};
}

edges set_gradient(gradient_context& at) {
  auto list = at.output_gradient(0), item = at.input(2);
  auto of_item = build("TensorListGetItem", {list, at.input(1), element_shape_of(item)},
                       {{"element_dtype", item.type()}});
  auto without_item = build("TensorListSetItem", {list, at.input(1), zeros_of(item)});
  // The list may have grown.
  auto old_length = build("TensorListLength", {at.input(0)});
  return {build("TensorListResize", {without_item, old_length}), {}, of_item};
}

edges resize_gradient(gradient_context& at) {
  auto old_length = build("TensorListLength", {at.input(0)});
  return {build("TensorListResize", {at.output_gradient(0), old_length}), {}};
}

edges push_gradient(gradient_context& at) {
  auto item = at.input(1);
  auto popped = build("TensorListPopBack", {at.output_gradient(0), element_shape_of(item)},
                      {{"element_dtype", item.type()}});
  return {popped, popped ? edge{popped.node, 1} : edge{}};
}

edges pop_gradient(gradient_context& at) {
  return {build("TensorListPushBack", {at.output_gradient(0), at.output_gradient(1)}), {}};
}

} // namespace

extern constexpr op_def empty_tensor_list{
    .name = "EmptyTensorList",
    .doc =
        "Makes an empty list.\n\nItems must have the type element_dtype, and a shape that is "
        "compatible with element_shape: a vector, in which -1 is an unknown extent, or the scalar "
        "-1 for any shape. max_num_elements is the maximum number of items, or -1 for no limit.",
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
    .doc = "Adds an item to the end of a list.\n\nChanges the list in place if no other op needs "
           "its old value.",
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
last = TensorListPopBack(two, i32[]) element_dtype=f32
fetch last:1 = f32(2)
)",
};

extern constexpr op_def tensor_list_pop_back{
    .name = "TensorListPopBack",
    .doc = "Removes the last item of a list.\n\nOutputs the list without the item, and the item. "
           "element_shape is the shape of an item that was not set, which is zeros.",
    .inputs = {{"input_handle", "variant"}, on_host("element_shape", "i32")},
    .outputs = {{"output_handle", "variant"}, {"tensor", "element_dtype"}},
    .attrs = {{"element_dtype", any_value}},
    .effects = effect::forwardable,
    .infer = infer_pop,
    .gradient = pop_gradient,
    .example = R"(
list = EmptyTensorList(i32[-1], i32(-1)) element_dtype=f32
more = TensorListPushBack(list, f32[7, 8])
last = TensorListPopBack(more, i32[-1]) element_dtype=f32
n = TensorListLength(last)
fetch last:1 = f32[7, 8]
fetch n = i32(0)
)",
};

extern constexpr op_def tensor_list_reserve{
    .name = "TensorListReserve",
    .doc = "Makes a list of num_elements items that are not set.\n\nAn item that is read before it "
           "is set is zeros.",
    .inputs = {on_host("element_shape", "shape_type"), on_host("num_elements", "i32")},
    .outputs = {{"handle", "variant"}},
    .attrs = {{"element_dtype", any_value}, {"shape_type", index_types}},
    .infer = infer_reserve,
    .no_gradient = "what is not set depends on nothing",
    .example = R"(
list = TensorListReserve(i32[2], i32(3)) element_dtype=f32
y = TensorListGetItem(list, i32(1), i32[2]) element_dtype=f32
fetch y = f32[0, 0]
)",
};

extern constexpr op_def tensor_list_resize{
    .name = "TensorListResize",
    .doc = "Removes items from the end of a list, or adds items that are not set, so that it has "
           "size items.",
    .inputs = {{"input_handle", "variant"}, on_host("size", "i32")},
    .outputs = {{"output_handle", "variant"}},
    .effects = effect::forwardable,
    .infer = infer_resize,
    .gradient = resize_gradient,
    .example = R"(
list = TensorListFromTensor(f32[1, 2, 3], i32[])
two = TensorListResize(list, i32(2))
y = TensorListStack(two, i32[]) element_dtype=f32
fetch y = f32[1, 2]
)",
};

extern constexpr op_def tensor_list_get_item{
    .name = "TensorListGetItem",
    .doc = "Reads one item of a list.\n\nelement_shape is the shape of an item that was not set, "
           "which is zeros.",
    .inputs = {{"input_handle", "variant"},
               on_host("index", "i32"),
               on_host("element_shape", "i32")},
    .outputs = {{"item", "element_dtype"}},
    .attrs = {{"element_dtype", any_value}},
    .infer = infer_get,
    .gradient = get_gradient,
    .example = R"(
list = TensorListFromTensor(f32[[1, 2], [3, 4]], i32[2])
y = TensorListGetItem(list, i32(1), i32[2]) element_dtype=f32
fetch y = f32[3, 4]
)",
};

extern constexpr op_def tensor_list_set_item{
    .name = "TensorListSetItem",
    .doc = "Replaces one item of a list.\n\nChanges the list in place if no other op needs its old "
           "value. With resize_if_index_out_of_bounds, an index beyond the end makes "
           "the list longer.",
    .inputs = {{"input_handle", "variant"}, on_host("index", "i32"), {"item", "element_dtype"}},
    .outputs = {{"output_handle", "variant"}},
    .attrs = {{"element_dtype", any_value}, {"resize_if_index_out_of_bounds", false}},
    .effects = effect::forwardable,
    .infer = infer_resize,
    .gradient = set_gradient,
    .example = R"(
list = TensorListReserve(i32[], i32(3)) element_dtype=f32
set = TensorListSetItem(list, i32(1), f32(5))
y = TensorListStack(set, i32[]) element_dtype=f32
fetch y = f32[0, 5, 0]
)",
};

extern constexpr op_def tensor_list_element_shape{
    .name = "TensorListElementShape",
    .doc = "Outputs the known part of the shape of a list's items.\n\nThe output is a vector, in "
           "which -1 is an unknown extent, or the scalar -1 for an unknown rank.",
    .inputs = {{"input_handle", "variant"}},
    .outputs = {{"element_shape", "shape_type"}},
    .attrs = {{"shape_type", index_types}},
    .effects = effect::data_dependent_shape,
    .infer = infer_element_shape,
    .no_gradient = "a shape is a list of whole numbers",
    .example = R"(
list = EmptyTensorList(i32[-1, 2], i32(-1)) element_dtype=f32
y = TensorListElementShape(list) shape_type=i32
fetch y = i32[-1, 2]
)",
};

extern constexpr op_def tensor_list_length{
    .name = "TensorListLength",
    .doc = "Counts the items of a list, including items that are not set.",
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
