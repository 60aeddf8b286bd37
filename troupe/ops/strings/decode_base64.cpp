// DecodeBase64: bytes from text.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::decode_base64_op {

extern constexpr op_def decode_base64{
    .name = "DecodeBase64",
    .doc = "Decodes web-safe base64, with or without padding at its end.",
    .inputs = {{"input", "string"}},
    .outputs = {{"output", "string"}},
    .infer = infer::same_as_input,
    .no_gradient = "text has none",
    .example = R"(
y = DecodeBase64(string["dHJvdXBl", "_-8="])
fetch y = string["troupe", "\xff\xef"]
)",
};

} // namespace troupe::ops::decode_base64_op
