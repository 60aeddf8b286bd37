// SerializeTensor: a tensor as bytes.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::serialize_tensor_op {

extern constexpr op_def serialize_tensor{
    .name = "SerializeTensor",
    .doc = "Writes a tensor, its type and shape included, as TensorFlow's TensorProto.",
    .inputs = {{"tensor", "T"}},
    .outputs = {{"serialized", "string"}},
    .attrs = {{"T", any_type}},
    .infer = infer::scalar,
    .no_gradient = "bytes have none",
    .example = R"(
bytes = SerializeTensor(u8[1, 2])
same = ParseTensor(bytes) out_type=u8
fetch bytes = string("\x08\x04\x12\x04\x12\x02\x08\x02\x22\x02\x01\x02")
fetch same = u8[1, 2]
)",
};

} // namespace troupe::ops::serialize_tensor_op
