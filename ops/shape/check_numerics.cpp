// CheckNumerics: passes its input if all elements are finite, otherwise fails.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::check_numerics_op {
namespace {

edges gradient(gradient_context& at) {
  auto message = "the gradient at: ";
  return {build("CheckNumerics", {at.output_gradient(0)},
                {{"message", message + at.attr<std::string>("message")}})};
}

} // namespace

extern constexpr op_def check_numerics{
    .name = "CheckNumerics",
    .doc = "Gives its input, and fails with the message where that has a NaN or an infinity.",
    .inputs = {{"tensor", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", floating}, {"message", attr_kind::text}},
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = CheckNumerics(f32[1, 2]) message="the loss"
fetch y = f32[1, 2]
run
z = CheckNumerics(f32[1, inf]) message="the loss"
fetch z
error invalid_argument "the loss"
)",
};

} // namespace troupe::ops::check_numerics_op
