// ParseTensor: a tensor from bytes.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::parse_tensor_op {
namespace {

result<shapes> infer(const infer_context& at) {
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
    .infer = infer,
    .no_gradient = "bytes have none",
    .example = R"(
bytes = SerializeTensor(string[["a"], ["b"]])
y = ParseTensor(bytes) out_type=string
fetch y = string[["a"], ["b"]]
)",
};

} // namespace troupe::ops::parse_tensor_op
