// StringToNumber: numbers from text.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::string_to_number_op {

extern constexpr op_def string_to_number{
    .name = "StringToNumber",
    .doc =
        "Reads each string as a decimal number.\n\nSpace around it is skipped. Whole numbers must "
        "fit their type; real ones that are too large become infinite, and may be written \"inf\" "
        "or \"nan\".",
    .inputs = {{"string_tensor", "string"}},
    .outputs = {{"output", "out_type"}},
    .attrs = {{"out_type",
               one_of(dtype::f32, dtype::f64, dtype::i32, dtype::i64, dtype::u32, dtype::u64),
               dtype::f32}},
    .infer = infer::same_as_input,
    .no_gradient = "text has none",
    .example = R"(
y = StringToNumber(string["7", " 12 "])
z = StringToNumber(string["20"]) out_type=f64
fetch y = f32[7, 12]
fetch z = f64[20]
)",
};

} // namespace troupe::ops::string_to_number_op
