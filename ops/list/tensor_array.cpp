// TensorArrays: elements that a step writes once and reads. A handle refers to the array. A flow, a
// number without meaning, orders the ops.
#include "troupe/ops/list/shared/arrays.hpp"

namespace troupe::ops::tensor_array_op {

extern constexpr op_def tensor_array_v3{
    .name = "TensorArrayV3",
    .doc = "Makes an array of size elements that are not written.\n\nGives a handle, and a flow "
           "that ops on the array take and give: an op comes after those whose flow it takes. Each "
           "run makes another array, which goes with its last handle. Elements must have the type "
           "and fit element_shape; with identical_element_shapes, also the first that was "
           "written. With dynamic_size, a write beyond the end makes it larger. With "
           "clear_after_read, an element can be read once.",
    .inputs = {on_host("size", "i32")},
    .outputs = {{"handle", "variant"}, {"flow", "f32"}},
    .attrs = {{"dtype", any_value},
              {"element_shape", attr_kind::shape, true},
              {"dynamic_size", false},
              {"clear_after_read", true},
              {"identical_element_shapes", false},
              {"tensor_array_name", ""}},
    .effects = effect::stateful,
    .infer = infer_array::make,
    .no_gradient = no_gradient_of_arrays,
    .example = R"(
array = TensorArrayV3(i32(3)) dtype=f32
n = TensorArraySizeV3(array, array:1)
fetch n = i32(3)
)",
};

extern constexpr op_def tensor_array_v2{
    .name = "TensorArrayV2",
    .second_name = "TensorArray",
    .doc = "Makes an array of size elements that are not written.\n\nAs TensorArrayV3, which gives "
           "the first flow as well.",
    .inputs = {on_host("size", "i32")},
    .outputs = {{"handle", "variant"}},
    .attrs = {{"dtype", any_value},
              {"element_shape", attr_kind::shape, true},
              {"dynamic_size", false},
              {"clear_after_read", true},
              {"tensor_array_name", ""}},
    .effects = effect::stateful,
    .infer = infer_array::make,
    .no_gradient = no_gradient_of_arrays,
    .example = R"(
array = TensorArrayV2(i32(2)) dtype=f32 dynamic_size=true
flow = TensorArrayWriteV2(array, i32(2), f32(7), f32(0))
n = TensorArraySizeV2(array, flow)
fetch n = i32(3)
)",
};

extern constexpr op_def tensor_array_grad_v3{
    .name = "TensorArrayGradV3",
    .doc = "Gives the array of gradients that belongs to an array and a source.\n\nIt is made when "
           "it is asked for first, with as many elements; from then on, the array does not grow. "
           "What is written to an element several times adds up, and what is not written counts "
           "as zeros.",
    .inputs = {{"handle", "variant"}, {"flow_in", "f32"}},
    .outputs = {{"grad_handle", "variant"}, {"flow_out", "f32"}},
    .attrs = {{"source", attr_kind::text}},
    .effects = effect::stateful,
    .infer = infer_array::gradient,
    .gradient = array_gradient::of_array,
    .example = R"(
array = TensorArrayV3(i32(2)) dtype=f32 element_shape=[]
written = TensorArrayWriteV3(array, i32(0), f32(7), array:1)
gradient = TensorArrayGradV3(array, written) source="gradients"
one = TensorArrayWriteV3(gradient, i32(0), f32(2), gradient:1)
two = TensorArrayWriteV3(gradient, i32(0), f32(3), one)
sum = TensorArrayReadV3(gradient, i32(0), two) dtype=f32
nothing = TensorArrayReadV3(gradient, i32(1), two) dtype=f32
fetch sum = f32(5)
fetch nothing = f32(0)
)",
};

extern constexpr op_def tensor_array_grad_v2{
    .name = "TensorArrayGradV2",
    .second_name = "TensorArrayGrad",
    .doc = "Gives the array of gradients that belongs to an array and a source.\n\nAs "
           "TensorArrayGradV3, which hands the flow on as well.",
    .inputs = {{"handle", "variant"}, {"flow_in", "f32"}},
    .outputs = {{"grad_handle", "variant"}},
    .attrs = {{"source", attr_kind::text}},
    .effects = effect::stateful,
    .infer = infer_array::gradient,
    .gradient = array_gradient::of_array,
    .example = R"(
array = TensorArrayV2(i32(1)) dtype=f32 element_shape=[]
gradient = TensorArrayGradV2(array, f32(0)) source="gradients"
y = TensorArrayReadV2(gradient, i32(0), f32(0)) dtype=f32
fetch y = f32(0)
)",
};

extern constexpr op_def tensor_array_grad_with_shape{
    .name = "TensorArrayGradWithShape",
    .doc = "Gives an array of gradients whose elements have further axes in front.\n\nAs "
           "TensorArrayGradV3 otherwise: for gradients of several values at once.",
    .inputs = {{"handle", "variant"}, {"flow_in", "f32"}, on_host("shape_to_prepend", "i32")},
    .outputs = {{"grad_handle", "variant"}, {"flow_out", "f32"}},
    .attrs = {{"source", attr_kind::text}},
    .effects = effect::stateful,
    .infer = infer_array::gradient,
    .gradient = array_gradient::of_array,
    .example = R"(
array = TensorArrayV3(i32(1)) dtype=f32 element_shape=[2]
gradient = TensorArrayGradWithShape(array, array:1, i32[3]) source="gradients"
y = TensorArrayReadV3(gradient, i32(0), gradient:1) dtype=f32
fetch y = f32[[0, 0], [0, 0], [0, 0]]
)",
};

extern constexpr op_def tensor_array_write_v3{
    .name = "TensorArrayWriteV3",
    .second_name = "TensorArrayWriteV2",
    .doc = "Writes an element of a TensorArray.\n\nEach can be written once, unless it is of an "
           "array of gradients. Nothing is copied, and what was written does not change later.",
    .inputs = {{"handle", "variant"}, on_host("index", "i32"), {"value", "T"}, {"flow_in", "f32"}},
    .outputs = {{"flow_out", "f32"}},
    .attrs = {{"T", any_value}},
    .effects = effect::stateful,
    .infer = infer_array::write,
    .gradient = array_gradient::write,
    .example = R"(
array = TensorArrayV3(i32(2)) dtype=f32 element_shape=[2]
first = TensorArrayWriteV3(array, i32(1), f32[1, 2], array:1)
second = TensorArrayWriteV3(array, i32(0), f32[3, 4], first)
y = TensorArrayGatherV3(array, i32[0, 1], second) dtype=f32
fetch y = f32[[3, 4], [1, 2]]
)",
};

extern constexpr op_def tensor_array_read_v3{
    .name = "TensorArrayReadV3",
    .second_name = "TensorArrayReadV2",
    .doc = "Reads an element of a TensorArray.\n\nOne that was not written counts as zeros where "
           "the array's element_shape is known, and is an error else; so is one that was read "
           "before, unless clear_after_read is false.",
    .inputs = {{"handle", "variant"}, on_host("index", "i32"), {"flow_in", "f32"}},
    .outputs = {{"value", "dtype"}},
    .attrs = {{"dtype", any_value}},
    .effects = effect::stateful,
    .infer = infer_array::read,
    .gradient = array_gradient::read,
    .example = R"(
array = TensorArrayV3(i32(2)) dtype=f32 element_shape=[2]
flow = TensorArrayWriteV3(array, i32(1), f32[1, 2], array:1)
y = TensorArrayReadV3(array, i32(1), flow) dtype=f32
fetch y = f32[1, 2]
)",
};

extern constexpr op_def tensor_array_gather_v3{
    .name = "TensorArrayGatherV3",
    .second_name = "TensorArrayGatherV2",
    .doc = "Joins the elements that indices name along a new first axis.\n\nThey must have one "
           "shape, and fit element_shape, which must be known where there are none. All of them "
           "are read.",
    .inputs = {{"handle", "variant"}, on_host("indices", "i32"), {"flow_in", "f32"}},
    .outputs = {{"value", "dtype"}},
    .attrs = {{"dtype", any_value}, {"element_shape", attr_kind::shape, true}},
    .effects = effect::stateful,
    .infer = infer_array::gather,
    .gradient = array_gradient::gather,
    .example = R"(
array = TensorArrayV3(i32(3)) dtype=f32 element_shape=[]
flow = TensorArrayScatterV3(array, i32[0, 1, 2], f32[5, 6, 7], array:1)
y = TensorArrayGatherV3(array, i32[2, 0], flow) dtype=f32
fetch y = f32[7, 5]
)",
};

extern constexpr op_def tensor_array_scatter_v3{
    .name = "TensorArrayScatterV3",
    .second_name = "TensorArrayScatterV2",
    .doc = "Writes the slices of a value along its first axis to the elements that indices name.",
    .inputs = {{"handle", "variant"},
               on_host("indices", "i32"),
               {"value", "T"},
               {"flow_in", "f32"}},
    .outputs = {{"flow_out", "f32"}},
    .attrs = {{"T", any_value}},
    .effects = effect::stateful,
    .infer = infer_array::scatter,
    .gradient = array_gradient::scatter,
    .example = R"(
array = TensorArrayV3(i32(3)) dtype=f32 element_shape=[]
flow = TensorArrayScatterV3(array, i32[2, 0], f32[5, 6], array:1)
y = TensorArrayGatherV3(array, i32[0, 1, 2], flow) dtype=f32
fetch y = f32[6, 0, 5]
)",
};

extern constexpr op_def tensor_array_concat_v3{
    .name = "TensorArrayConcatV3",
    .second_name = "TensorArrayConcatV2",
    .doc = "Joins all elements of a TensorArray along their first axis.\n\nAlso gives the extent "
           "of each along that axis. The others must be equal, and fit element_shape_except0, "
           "which must be known where there are no elements. All of them are read.",
    .inputs = {{"handle", "variant"}, {"flow_in", "f32"}},
    .outputs = {{"value", "dtype"}, {"lengths", "i64"}},
    .attrs = {{"dtype", any_type}, {"element_shape_except0", attr_kind::shape, true}},
    .effects = effect::stateful,
    .infer = infer_array::concat,
    .gradient = array_gradient::concat,
    .example = R"(
array = TensorArrayV3(i32(2)) dtype=f32
flow = TensorArraySplitV3(array, f32[1, 2, 3], i64[1, 2], array:1)
y = TensorArrayConcatV3(array, flow) dtype=f32
fetch y = f32[1, 2, 3]
fetch y:1 = i64[1, 2]
)",
};

extern constexpr op_def tensor_array_split_v3{
    .name = "TensorArraySplitV3",
    .second_name = "TensorArraySplitV2",
    .doc = "Cuts a value along its first axis into the elements of a TensorArray.\n\nThere is one "
           "length for each element, and they add up to the extent of the axis.",
    .inputs = {{"handle", "variant"},
               {"value", "T"},
               on_host("lengths", "i64"),
               {"flow_in", "f32"}},
    .outputs = {{"flow_out", "f32"}},
    .attrs = {{"T", any_type}},
    .effects = effect::stateful,
    .infer = infer_array::split,
    .gradient = array_gradient::split,
    .example = R"(
array = TensorArrayV3(i32(2)) dtype=f32
flow = TensorArraySplitV3(array, f32[1, 2, 3], i64[1, 2], array:1)
y = TensorArrayReadV3(array, i32(1), flow) dtype=f32
fetch y = f32[2, 3]
)",
};

extern constexpr op_def tensor_array_size_v3{
    .name = "TensorArraySizeV3",
    .second_name = "TensorArraySizeV2",
    .doc = "Counts the elements of a TensorArray, written or not.",
    .inputs = {{"handle", "variant"}, {"flow_in", "f32"}},
    .outputs = {{"size", "i32"}},
    .effects = effect::stateful,
    .infer = infer_array::size,
    .no_gradient = "the number of elements is a whole number",
    .example = R"(
array = TensorArrayV3(i32(1)) dtype=f32 dynamic_size=true
flow = TensorArrayWriteV3(array, i32(4), f32[1, 2], array:1)
n = TensorArraySizeV3(array, flow)
fetch n = i32(5)
)",
};

extern constexpr op_def tensor_array_close_v3{
    .name = "TensorArrayCloseV3",
    .second_name = "TensorArrayCloseV2",
    .doc = "Lets go of all elements of a TensorArray.\n\nAny use of it afterwards is an error. "
           "There is no need to close one: it goes with its last handle.",
    .inputs = {{"handle", "variant"}},
    .effects = effect::stateful,
    .infer = infer_array::close,
    .no_gradient = "it gives nothing",
    .example = R"(
array = TensorArrayV3(i32(1)) dtype=f32
done = TensorArrayCloseV3(array)
n = TensorArraySizeV3(array, array:1, ^done)
fetch n
error invalid_argument "closed already"
)",
};

} // namespace troupe::ops::tensor_array_op
