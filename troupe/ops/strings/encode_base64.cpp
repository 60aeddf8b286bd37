// EncodeBase64: bytes as text.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::encode_base64_op {

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

} // namespace troupe::ops::encode_base64_op
