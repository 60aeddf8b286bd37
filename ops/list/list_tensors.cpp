// Conversions between lists of tensors and tensors.
#include "troupe/ops/define/dims.hpp"
#include "troupe/ops/list/shared/axes.hpp"
#include "troupe/ops/list/shared/element_shape.hpp"

namespace troupe::ops::list_tensors_op {
namespace {

result<partial_shape> with_first_axis(int64_t extent, const partial_shape& dims) {
  return with_axes(std::span{&extent, 1}, dims);
}

result<shapes> infer_stack(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0).status());
  TROUPE_ASSIGN(auto dims, listed_element_shape(at, 1));
  TROUPE_ASSIGN(auto stacked, with_first_axis(at.attr<int64_t>("num_elements"), dims));
  return shapes{stacked};
}

result<shapes> infer_gather(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0).status());
  TROUPE_ASSIGN(auto indices, at.of_rank(1, 1));
  TROUPE_ASSIGN(auto dims, listed_element_shape(at, 2));
  TROUPE_ASSIGN(auto stacked, with_first_axis(indices[0], dims));
  return shapes{stacked};
}

// The tensor's first axis is the number of items.
template <int Tensor>
result<shapes> infer_list_of(const infer_context& at) {
  const auto& dims = at.input(Tensor);
  if (dims.has_rank() && dims.rank() == 0)
    return at.invalid("a scalar has no items: tensor needs an axis");
  return shapes{shape{}};
}

result<shapes> infer_concat(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0).status());
  auto declared_shape = at.has_attr("element_shape")
                            ? result<partial_shape>{at.attr<partial_shape>("element_shape")}
                            : listed_element_shape(at, 1);
  TROUPE_ASSIGN(auto dims, std::move(declared_shape));
  if (dims.has_rank() && dims.rank() > 0)
    dims.set(0, unknown_extent);
  return shapes{dims, partial_shape{unknown_extent}};
}

result<shapes> infer_push_batch(const infer_context& at) {
  TROUPE_ASSIGN(auto lists, at.of_rank(0, 1));
  return shapes{lists};
}

result<shapes> infer_concat_lists(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0).status());
  TROUPE_TRY(at.of_rank(1, 0).status());
  return shapes{shape{}};
}

// The shape of a tensor without its first axis, as an element_shape.
edge shape_of_items(edge tensor) {
  if (tensor && tensor.dims().fully_known()) {
    auto extents = tensor.dims().extents();
    return constant_like(
        tensor, troupe::tensor::vector(std::vector<int32_t>(extents.begin() + 1, extents.end())));
  }
  auto vector = [&](int32_t at) {
    return constant_like(tensor, troupe::tensor::vector(std::vector{at}));
  };
  return build(
      "StridedSlice",
      {build("Shape", {tensor}, {{"out_type", dtype::i32}}), vector(1), vector(0), vector(1)},
      {{"end_mask", int64_t{1}}});
}

edge list_of(edge tensor) {
  return build("TensorListFromTensor", {tensor, shape_of_items(tensor)});
}

edges stack_gradient(gradient_context& at) { return {list_of(at.output_gradient(0)), {}}; }

edges from_tensor_gradient(gradient_context& at) {
  auto tensor = at.input(0);
  auto count = tensor.dims().has_rank() ? tensor.dims()[0] : unknown_extent;
  return {build("TensorListStack", {at.output_gradient(0), shape_of_items(tensor)},
                {{"element_dtype", tensor.type()}, {"num_elements", count}}),
          {}};
}

edges gather_gradient(gradient_context& at) {
  auto dy = at.output_gradient(0), indices = at.input(1);
  auto count = build("TensorListLength", {at.input(0)});
  if (dy && numbers.contains(dy.type())) { // an item that was read twice gets the sum
    auto sums = build("UnsortedSegmentSum", {dy, indices, count});
    dy = build("GatherV2", {sums, indices, constant_like(dy, tensor::scalar(int32_t{0}))});
  }
  return {build("TensorListScatterV2", {dy, indices, shape_of_items(dy), count}), {}, {}};
}

edge gathered(edge list, edge indices, edge tensor) {
  return build("TensorListGather", {list, indices, shape_of_items(tensor)},
               {{"element_dtype", tensor.type()}});
}

edges scatter_gradient(gradient_context& at) {
  edges gradients(static_cast<size_t>(at.inputs()));
  gradients[0] = gathered(at.output_gradient(0), at.input(1), at.input(0));
  return gradients;
}

edges scatter_into_gradient(gradient_context& at) {
  auto list = at.output_gradient(0), tensor = at.input(1), indices = at.input(2);
  auto without_items =
      build("TensorListScatterIntoExistingList", {list, zeros_of(tensor), indices});
  return {build("TensorListResize", {without_items, build("TensorListLength", {at.input(0)})}),
          gathered(list, indices, tensor),
          {}};
}

edges concat_gradient(gradient_context& at) {
  auto dy = at.output_gradient(0);
  auto any = constant_like(dy, tensor::scalar(int32_t{-1}));
  edges gradients(static_cast<size_t>(at.inputs()));
  gradients[0] = build("TensorListSplit", {dy, any, at.output(1)});
  return gradients;
}

edges split_gradient(gradient_context& at) {
  auto tensor = at.input(0);
  auto any = constant_like(tensor, troupe::tensor::scalar(int32_t{-1}));
  auto joined = build("TensorListConcatV2", {at.output_gradient(0), any, at.input(2)},
                      {{"element_dtype", tensor.type()}});
  return {joined, {}, {}};
}

} // namespace

extern constexpr op_def tensor_list_stack{
    .name = "TensorListStack",
    .doc = "Joins all items of a list along a new first axis.\n\nThe items must have one shape. "
           "Without items, the shape must be known. num_elements is the required number of items, "
           "or -1 for any number.",
    .inputs = {{"input_handle", "variant"}, on_host("element_shape", "i32")},
    .outputs = {{"tensor", "element_dtype"}},
    .attrs = {{"element_dtype", any_value}, {"num_elements", -1}},
    .effects = effect::data_dependent_shape,
    .infer = infer_stack,
    .gradient = stack_gradient,
    .example = R"(
list = TensorListFromTensor(f32[[1, 2], [3, 4]], i32[2])
more = TensorListPushBack(list, f32[5, 6])
y = TensorListStack(more, i32[2]) element_dtype=f32
fetch y = f32[[1, 2], [3, 4], [5, 6]]
)",
};

extern constexpr op_def tensor_list_from_tensor{
    .name = "TensorListFromTensor",
    .doc = "Makes a list of the slices of a tensor along its first axis.",
    .inputs = {{"tensor", "element_dtype"}, on_host("element_shape", "shape_type")},
    .outputs = {{"output_handle", "variant"}},
    .attrs = {{"element_dtype", any_value}, {"shape_type", index_types}},
    .infer = infer_list_of<0>,
    .gradient = from_tensor_gradient,
    .example = R"(
list = TensorListFromTensor(f32[[1, 2], [3, 4]], i32[2])
last = TensorListPopBack(list, i32[2]) element_dtype=f32
fetch last:1 = f32[3, 4]
)",
};

extern constexpr op_def tensor_list_gather{
    .name = "TensorListGather",
    .doc = "Joins the items at indices along a new first axis.",
    .inputs = {{"input_handle", "variant"},
               on_host("indices", "i32"),
               on_host("element_shape", "i32")},
    .outputs = {{"values", "element_dtype"}},
    .attrs = {{"element_dtype", any_value}},
    .infer = infer_gather,
    .gradient = gather_gradient,
    .example = R"(
list = TensorListFromTensor(f32[1, 2, 3], i32[])
y = TensorListGather(list, i32[2, 0], i32[]) element_dtype=f32
fetch y = f32[3, 1]
)",
};

extern constexpr op_def tensor_list_scatter{
    .name = "TensorListScatter",
    .doc = "Makes a list whose items at indices are the slices of a tensor.\n\nThe length of the "
           "list is the greatest index plus one.",
    .inputs = {{"tensor", "element_dtype"},
               on_host("indices", "i32"),
               on_host("element_shape", "shape_type")},
    .outputs = {{"output_handle", "variant"}},
    .attrs = {{"element_dtype", any_value}, {"shape_type", index_types}},
    .infer = infer_list_of<0>,
    .gradient = scatter_gradient,
    .example = R"(
list = TensorListScatter(f32[5, 6], i32[2, 0], i32[])
y = TensorListStack(list, i32[]) element_dtype=f32
fetch y = f32[6, 0, 5]
)",
};

extern constexpr op_def tensor_list_scatter_v2{
    .name = "TensorListScatterV2",
    .doc = "Makes a list whose items at indices are the slices of a tensor.\n\nThe list has "
           "num_elements items; with -1, its length is the greatest index plus one.",
    .inputs = {{"tensor", "element_dtype"},
               on_host("indices", "i32"),
               on_host("element_shape", "shape_type"),
               on_host("num_elements", "i32")},
    .outputs = {{"output_handle", "variant"}},
    .attrs = {{"element_dtype", any_value}, {"shape_type", index_types}},
    .infer = infer_list_of<0>,
    .gradient = scatter_gradient,
    .example = R"(
list = TensorListScatterV2(f32[5, 6], i32[2, 0], i32[], i32(4))
y = TensorListStack(list, i32[]) element_dtype=f32
fetch y = f32[6, 0, 5, 0]
)",
};

extern constexpr op_def tensor_list_scatter_into_existing_list{
    .name = "TensorListScatterIntoExistingList",
    .doc = "Replaces the items of a list at indices by the slices of a tensor.\n\nAn index beyond "
           "the end makes the list longer.",
    .inputs = {{"input_handle", "variant"}, {"tensor", "element_dtype"}, on_host("indices", "i32")},
    .outputs = {{"output_handle", "variant"}},
    .attrs = {{"element_dtype", any_value}},
    .effects = effect::forwardable,
    .infer = infer_list_of<1>,
    .gradient = scatter_into_gradient,
    .example = R"(
list = TensorListFromTensor(f32[1, 2, 3], i32[])
some = TensorListScatterIntoExistingList(list, f32[5], i32[1])
y = TensorListStack(some, i32[]) element_dtype=f32
fetch y = f32[1, 5, 3]
)",
};

extern constexpr op_def tensor_list_concat{
    .name = "TensorListConcat",
    .doc = "Joins all items of a list along their first axis.\n\nAlso outputs the extent of each "
           "item along that axis. The other extents must be equal.",
    .inputs = {{"input_handle", "variant"}},
    .outputs = {{"tensor", "element_dtype"}, {"lengths", "i64"}},
    .attrs = {{"element_dtype", any_type}, {"element_shape", attr_kind::shape, true}},
    .effects = effect::data_dependent_shape,
    .infer = infer_concat,
    .gradient = concat_gradient,
    .example = R"(
list = TensorListSplit(f32[1, 2, 3], i32[-1], i64[1, 2])
y = TensorListConcat(list) element_dtype=f32
fetch y = f32[1, 2, 3]
fetch y:1 = i64[1, 2]
)",
};

extern constexpr op_def tensor_list_concat_v2{
    .name = "TensorListConcatV2",
    .doc = "Joins all items of a list along their first axis.\n\nAlso outputs the extent of each "
           "item along that axis. The other extents must be equal. leading_dims are the first "
           "extents of items that are not set.",
    .inputs = {{"input_handle", "variant"},
               on_host("element_shape", "shape_type"),
               on_host("leading_dims", "i64")},
    .outputs = {{"tensor", "element_dtype"}, {"lengths", "i64"}},
    .attrs = {{"element_dtype", any_type}, {"shape_type", index_types}},
    .effects = effect::data_dependent_shape,
    .infer = infer_concat,
    .gradient = concat_gradient,
    .example = R"(
list = TensorListSplit(f32[1, 2, 3], i32[-1], i64[1, 2])
y = TensorListConcatV2(list, i32[-1], i64[]) element_dtype=f32
fetch y = f32[1, 2, 3]
fetch y:1 = i64[1, 2]
)",
};

extern constexpr op_def tensor_list_split{
    .name = "TensorListSplit",
    .doc = "Splits a tensor along its first axis into items of these lengths, which must add up to "
           "its extent.",
    .inputs = {{"tensor", "element_dtype"},
               on_host("element_shape", "shape_type"),
               on_host("lengths", "i64")},
    .outputs = {{"output_handle", "variant"}},
    .attrs = {{"element_dtype", any_type}, {"shape_type", index_types}},
    .infer = infer_list_of<0>,
    .gradient = split_gradient,
    .example = R"(
list = TensorListSplit(f32[1, 2, 3], i32[-1], i64[1, 2])
y = TensorListGetItem(list, i32(1), i32[-1]) element_dtype=f32
fetch y = f32[2, 3]
)",
};

extern constexpr op_def tensor_list_push_back_batch{
    .name = "TensorListPushBackBatch",
    .doc = "Adds one slice of a tensor to the end of each list of a vector.",
    .inputs = {{"input_handles", "variant"}, {"tensor", "element_dtype"}},
    .outputs = {{"output_handles", "variant"}},
    .attrs = {{"element_dtype", any_type}},
    .effects = effect::forwardable,
    .infer = infer_push_batch,
    .no_gradient = "TensorFlow has none either: push each slice by TensorListPushBack",
    .example = R"(
one = TensorListFromTensor(f32[1, 2], i32[])
two = TensorListFromTensor(f32[3], i32[])
none = EmptyTensorList(i32[], i32(-1)) element_dtype=variant
first = TensorListPushBack(none, one)
both = TensorListPushBack(first, two)
lists = TensorListStack(both, i32[]) element_dtype=variant
more = TensorListPushBackBatch(lists, f32[5, 6])
apart = TensorListFromTensor(more, i32[])
second = TensorListGetItem(apart, i32(1), i32[]) element_dtype=variant
y = TensorListStack(second, i32[]) element_dtype=f32
fetch y = f32[3, 6]
)",
};

extern constexpr op_def tensor_list_concat_lists{
    .name = "TensorListConcatLists",
    .doc = "Makes a list of the items of one list, followed by those of another.",
    .inputs = {{"input_a", "variant"}, {"input_b", "variant"}},
    .outputs = {{"output", "variant"}},
    .attrs = {{"element_dtype", any_value}},
    .effects = effect::forwardable,
    .infer = infer_concat_lists,
    .no_gradient = "TensorFlow has none either: join what TensorListStack gives",
    .example = R"(
one = TensorListFromTensor(f32[1, 2], i32[])
two = TensorListFromTensor(f32[3], i32[])
both = TensorListConcatLists(one, two) element_dtype=f32
y = TensorListStack(both, i32[]) element_dtype=f32
fetch y = f32[1, 2, 3]
)",
};

} // namespace troupe::ops::list_tensors_op
