// Tensors as serialized TensorProto messages.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::tensor_proto_op {
namespace {

result<shapes> infer_parse_tensor(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0));
  return shapes{partial_shape::unknown()};
}

} // namespace

extern constexpr op_def parse_tensor{
    .name = "ParseTensor",
    .doc =
        "Reads a tensor that SerializeTensor, or TensorFlow, has written as TensorProto.\n\n"
        "Fails where its type is not out_type, or where it lists more elements than its shape has.",
    .inputs = {{"serialized", "string"}},
    .outputs = {{"output", "out_type"}},
    .attrs = {{"out_type", any_type}},
    .infer = infer_parse_tensor,
    .no_gradient = "bytes have none",
    .example = R"(
bytes = SerializeTensor(string[["a"], ["b"]])
y = ParseTensor(bytes) out_type=string
fetch y = string[["a"], ["b"]]
)",
};

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

} // namespace troupe::ops::tensor_proto_op
