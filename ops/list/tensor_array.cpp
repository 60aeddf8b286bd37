// TensorArrays: elements that a step writes once and reads. A handle refers to the array. A flow, a
// number without meaning, orders the ops.
#include "troupe/ops/list/shared/arrays.hpp"

namespace troupe::ops::tensor_array_op {

extern constexpr op_def tensor_array_v3{
    .name = "TensorArrayV3",
    .doc =
        "Makes an array of size elements that are not written.\n\nOutputs a handle, and a flow, "
        "which orders ops: each op on the array takes a flow and runs after the op that has output "
        "it. Each run makes a new array, which is released with its last handle. Elements must "
        "have the type dtype, and a shape that is compatible with element_shape; with "
        "identical_element_shapes, all must have one shape. With dynamic_size, a write beyond the "
        "end extends the array. With clear_after_read, an element can be read only once.",
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
    .doc = "Makes an array of size elements that are not written.\n\nThe same as TensorArrayV3, "
           "which also outputs the first flow.",
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
    .doc = "Outputs the array of gradients of an array, for a source.\n\nThe first op for a source "
           "makes it, with the same number of elements; afterwards the array cannot grow. Values "
           "that are written to one element are added up. An element that is not written is zeros.",
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
    .doc = "Outputs the array of gradients of an array, for a source.\n\nThe same as "
           "TensorArrayGradV3, which also passes the flow on.",
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
    .doc =
        "Outputs an array of gradients whose elements have additional leading axes.\n\nOtherwise "
        "the same as TensorArrayGradV3. Used for gradients of several values together.",
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
    .doc = "Writes an element of a TensorArray.\n\nAn element can be written only once, except in "
           "an array of gradients. The value is not copied, and does not change later.",
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
    .doc = "Reads an element of a TensorArray.\n\nAn element that was not written is zeros if the "
           "array's element_shape is known, and otherwise an error. Reading an element again is an "
           "error unless clear_after_read is false.",
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
    .doc = "Joins the elements at indices along a new first axis.\n\nThe elements must have one "
           "shape, which is compatible with element_shape. Without indices, the shape must be "
           "known. Counts as a read of each element.",
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
    .doc = "Writes the slices of a value along its first axis to the elements at indices.",
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
    .doc = "Joins all elements of a TensorArray along their first axis.\n\nAlso outputs the extent "
           "of each element along that axis. The other extents must be equal, and compatible with "
           "element_shape_except0, which must be known if there are no elements. Counts as a read "
           "of each element.",
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
    .doc = "Splits a value along its first axis into the elements of a TensorArray.\n\nlengths has "
           "a length for each element; they must add up to the extent of the axis.",
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
    .doc = "Releases all elements of a TensorArray.\n\nAny later use is an error. Closing is "
           "optional: all elements are released with the last handle.",
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
