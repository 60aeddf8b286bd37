// RequantizationRange: what a tensor's whole numbers really stand for.
#include "troupe/ops/quantized/shared/quantized_range.hpp"

namespace troupe::ops::requantization_range_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto made, infer_quantized(at, at.input(0), 1));
  made.erase(made.begin());
  return made;
}

} // namespace

extern constexpr op_def requantization_range{
    .name = "RequantizationRange",
    .doc = "Gives the range of the real numbers that the elements stand for.\n\n"
           "It is part of the range that their type stands for; its minimum is 0 where none is "
           "below.",
    .inputs = {{"input", "Tinput"}, {"input_min", "f32"}, {"input_max", "f32"}},
    .outputs = {{"output_min", "f32"}, {"output_max", "f32"}},
    .attrs = {{"Tinput", one_of(dtype::i32)}},
    .infer = infer,
    .no_gradient = "it looks at whole numbers",
    .example = R"(
r = RequantizationRange(i32[-1073741824, 0, 536870912], f32(-2), f32(2))
fetch r = f32(-1)
fetch r:1 = f32(0.5)
)",
};

} // namespace troupe::ops::requantization_range_op
