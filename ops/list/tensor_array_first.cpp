// TensorArrays of TensorFlow's first generation, whose handles were references.
#include "troupe/ops/list/shared/arrays.hpp"

namespace troupe::ops::tensor_array_first_op {

extern constexpr op_def tensor_array_write{
    .name = "TensorArrayWrite",
    .doc = "Writes an element of a TensorArray.\n\nThe same as TensorArrayWriteV3.",
    .inputs = {{"handle", "variant"}, on_host("index", "i32"), {"value", "T"}, {"flow_in", "f32"}},
    .outputs = {{"flow_out", "f32"}},
    .attrs = {{"T", any_value}},
    .effects = effect::stateful,
    .infer = infer_array::write,
    .gradient = array_gradient::write,
    .example = R"(
array = TensorArray(i32(1)) dtype=f32
flow = TensorArrayWrite(array, i32(0), f32[1, 2], f32(0))
again = TensorArrayWrite(array, i32(0), f32[1, 2], flow)
fetch again
error invalid_argument "cannot be written again"
)",
};

extern constexpr op_def tensor_array_read{
    .name = "TensorArrayRead",
    .doc = "Reads an element of a TensorArray.\n\nThe same as TensorArrayReadV3.",
    .inputs = {{"handle", "variant"}, on_host("index", "i32"), {"flow_in", "f32"}},
    .outputs = {{"value", "dtype"}},
    .attrs = {{"dtype", any_value}},
    .effects = effect::stateful,
    .infer = infer_array::read,
    .gradient = array_gradient::read,
    .example = R"(
array = TensorArray(i32(1)) dtype=string element_shape=[]
flow = TensorArrayWrite(array, i32(0), string("some"), f32(0))
y = TensorArrayRead(array, i32(0), flow) dtype=string
fetch y = string("some")
)",
};

extern constexpr op_def tensor_array_pack{
    .name = "TensorArrayPack",
    .doc = "Joins all elements of a TensorArray along a new first axis.\n\nThe same as "
           "TensorArrayGatherV3 with the indices of all elements in order.",
    .inputs = {{"handle", "variant"}, {"flow_in", "f32"}},
    .outputs = {{"value", "dtype"}},
    .attrs = {{"dtype", any_value}, {"element_shape", attr_kind::shape, true}},
    .effects = effect::stateful,
    .infer = infer_array::pack,
    .gradient = array_gradient::pack,
    .example = R"(
array = TensorArray(i32(2)) dtype=f32
first = TensorArrayWrite(array, i32(1), f32(5), f32(0))
second = TensorArrayWrite(array, i32(0), f32(6), first)
y = TensorArrayPack(array, second) dtype=f32
fetch y = f32[6, 5]
)",
};

extern constexpr op_def tensor_array_unpack{
    .name = "TensorArrayUnpack",
    .doc = "Writes the slices of a value along its first axis to the elements of a "
           "TensorArray.\n\nThe value has one slice for each element.",
    .inputs = {{"handle", "variant"}, {"value", "T"}, {"flow_in", "f32"}},
    .outputs = {{"flow_out", "f32"}},
    .attrs = {{"T", any_value}},
    .effects = effect::stateful,
    .infer = infer_array::unpack,
    .gradient = array_gradient::unpack,
    .example = R"(
array = TensorArray(i32(0)) dtype=f32 dynamic_size=true
flow = TensorArrayUnpack(array, f32[[1, 2], [3, 4]], f32(0))
y = TensorArrayRead(array, i32(1), flow) dtype=f32
fetch y = f32[3, 4]
)",
};

extern constexpr op_def tensor_array_gather{
    .name = "TensorArrayGather",
    .doc =
        "Joins the elements at indices along a new first axis.\n\nThe same as TensorArrayGatherV3.",
    .inputs = {{"handle", "variant"}, on_host("indices", "i32"), {"flow_in", "f32"}},
    .outputs = {{"value", "dtype"}},
    .attrs = {{"dtype", any_value}, {"element_shape", attr_kind::shape, true}},
    .effects = effect::stateful,
    .infer = infer_array::gather,
    .gradient = array_gradient::gather,
    .example = R"(
array = TensorArray(i32(0)) dtype=f32
y = TensorArrayGather(array, i32[], f32(0)) dtype=f32 element_shape=[2]
fetch y = f32{0,2}[]
)",
};

extern constexpr op_def tensor_array_scatter{
    .name = "TensorArrayScatter",
    .doc = "Writes the slices of a value along its first axis to the elements at indices.\n\nThe "
           "same as TensorArrayScatterV3.",
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
array = TensorArray(i32(2)) dtype=f32
flow = TensorArrayScatter(array, i32[1, 0], f32[5, 6], f32(0))
y = TensorArrayPack(array, flow) dtype=f32
fetch y = f32[6, 5]
)",
};

extern constexpr op_def tensor_array_concat{
    .name = "TensorArrayConcat",
    .doc = "Joins all elements of a TensorArray along their first axis.\n\nThe same as "
           "TensorArrayConcatV3.",
    .inputs = {{"handle", "variant"}, {"flow_in", "f32"}},
    .outputs = {{"value", "dtype"}, {"lengths", "i64"}},
    .attrs = {{"dtype", any_type}, {"element_shape_except0", attr_kind::shape, true}},
    .effects = effect::stateful,
    .infer = infer_array::concat,
    .gradient = array_gradient::concat,
    .example = R"(
array = TensorArray(i32(2)) dtype=f32
first = TensorArrayWrite(array, i32(0), f32[[1, 2]], f32(0))
second = TensorArrayWrite(array, i32(1), f32[[3, 4], [5, 6]], first)
y = TensorArrayConcat(array, second) dtype=f32 element_shape_except0=[2]
fetch y = f32[[1, 2], [3, 4], [5, 6]]
fetch y:1 = i64[1, 2]
)",
};

extern constexpr op_def tensor_array_split{
    .name = "TensorArraySplit",
    .doc = "Splits a value along its first axis into the elements of a TensorArray.\n\nThe same as "
           "TensorArraySplitV3.",
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
array = TensorArray(i32(0)) dtype=f32 dynamic_size=true
flow = TensorArraySplit(array, f32[1, 2, 3], i64[2, 0, 1], f32(0))
y = TensorArrayRead(array, i32(0), flow) dtype=f32
fetch y = f32[1, 2]
)",
};

extern constexpr op_def tensor_array_size{
    .name = "TensorArraySize",
    .doc = "Counts the elements of a TensorArray, written or not.\n\nThe same as "
           "TensorArraySizeV3.",
    .inputs = {{"handle", "variant"}, {"flow_in", "f32"}},
    .outputs = {{"size", "i32"}},
    .effects = effect::stateful,
    .infer = infer_array::size,
    .no_gradient = "the number of elements is a whole number",
    .example = R"(
array = TensorArray(i32(7)) dtype=f32
n = TensorArraySize(array, f32(0))
fetch n = i32(7)
)",
};

extern constexpr op_def tensor_array_close{
    .name = "TensorArrayClose",
    .doc = "Releases all elements of a TensorArray.\n\nThe same as TensorArrayCloseV3.",
    .inputs = {{"handle", "variant"}},
    .effects = effect::stateful,
    .infer = infer_array::close,
    .no_gradient = "it gives nothing",
    .example = R"(
array = TensorArray(i32(1)) dtype=f32
done = TensorArrayClose(array)
target done
)",
};

} // namespace troupe::ops::tensor_array_first_op
