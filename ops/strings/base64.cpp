// Base64 encoding of bytes, and decoding.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::base64_op {

extern constexpr op_def encode_base64{
    .name = "EncodeBase64",
    .doc = "Encodes each string in web-safe base64.\n\nWith `pad`, the text is filled up to a "
           "multiple of 4 characters with '='.",
    .inputs = {{"input", "string"}},
    .outputs = {{"output", "string"}},
    .attrs = {{"pad", false}},
    .infer = infer::same_as_input,
    .no_gradient = "text has none",
    .example = R"(
y = EncodeBase64(string["troupe", "\xff\xef"])
z = EncodeBase64(string["a"]) pad=true
fetch y = string["dHJvdXBl", "_-8"]
fetch z = string["YQ=="]
)",
};

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

} // namespace troupe::ops::base64_op
