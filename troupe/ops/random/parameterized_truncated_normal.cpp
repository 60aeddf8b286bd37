// ParameterizedTruncatedNormal: normal numbers of a given mean and deviation, within given bounds.
#include "troupe/ops/random/shared/random.hpp"

namespace troupe::ops::parameterized_truncated_normal_op {
namespace {

result<shapes> infer(const infer_context& at) {
  for (int i = 1; i < at.inputs(); ++i)
    if (at.input(i).has_rank() && at.input(i).rank() > 1)
      return at.invalid("parameters must be scalars or vectors, got shape ", at.input(i));
  return infer_drawn(at);
}

} // namespace

extern constexpr op_def parameterized_truncated_normal{
    .name = "ParameterizedTruncatedNormal",
    .doc = "Draws numbers from normal distributions, again where one is out of bounds.\n\n"
           "Each parameter is one number for all, or has one for each row of the output, along its "
           "first axis. Deviations must be positive, and minvals less than maxvals; these may be "
           "infinite. Equal seeds give equal numbers, as for RandomUniform.",
    .inputs = {on_host("shape", "T"),
               {"means", "dtype"},
               {"stdevs", "dtype"},
               {"minvals", "dtype"},
               {"maxvals", "dtype"}},
    .outputs = {{"output", "dtype"}},
    .attrs = {{"seed", 0}, {"seed2", 0}, {"dtype", floating}, {"T", index_types}},
    .effects = effect::stateful | effect::random,
    .infer = infer,
    .no_gradient = "its output is drawn",
    .example = R"(
x = ParameterizedTruncatedNormal(i32[2, 3], f32[0, 5], f32(1), f32(-inf), f32[-9, 0]) seed=7
positive = Greater(x, f32(0))
fetch positive = bool[[false, false, false], [false, false, false]]
)",
};

} // namespace troupe::ops::parameterized_truncated_normal_op
