// Normal numbers, plain or truncated, from the node's stream or from a seed that is an input.
#include "troupe/ops/random/shared/random.hpp"

namespace troupe::ops::random_normal_op {
namespace {

result<shapes> infer(const infer_context& at) {
  for (int i = 1; i < at.inputs(); ++i)
    if (at.input(i).has_rank() && at.input(i).rank() > 1)
      return at.invalid("parameters must be scalars or vectors, got shape ", at.input(i));
  return infer_drawn(at);
}

} // namespace

extern constexpr op_def random_standard_normal{
    .name = "RandomStandardNormal",
    .doc = "Draws numbers from the normal distribution with mean 0 and variance 1.\n\n"
           "Equal seeds give equal numbers, whatever the number of threads; each run goes on "
           "where the last one stopped. With seed and seed2 both 0, every process draws other "
           "numbers.",
    .inputs = {on_host("shape", "T")},
    .outputs = {{"output", "dtype"}},
    .attrs = {{"seed", 0}, {"seed2", 0}, {"dtype", floating}, {"T", index_types}},
    .effects = effect::stateful | effect::random,
    .infer = infer_drawn,
    .no_gradient = "its output does not depend on the values of its inputs",
    .example = R"(
x = RandomStandardNormal(i32[3]) dtype=f32 seed=7
shape = Shape(x)
fetch shape = i32[3]
)",
};

extern constexpr op_def truncated_normal{
    .name = "TruncatedNormal",
    .doc = "Draws numbers from the standard normal distribution, again where one is beyond 2.\n\n"
           "Equal seeds give equal numbers, whatever the number of threads; each run goes on "
           "where the last one stopped. With seed and seed2 both 0, every process draws other "
           "numbers.",
    .inputs = {on_host("shape", "T")},
    .outputs = {{"output", "dtype"}},
    .attrs = {{"seed", 0}, {"seed2", 0}, {"dtype", floating}, {"T", index_types}},
    .effects = effect::stateful | effect::random,
    .infer = infer_drawn,
    .no_gradient = "its output does not depend on the values of its inputs",
    .example = R"(
x = TruncatedNormal(i32[3]) dtype=f32 seed=7
shape = Shape(x)
fetch shape = i32[3]
)",
};

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

extern constexpr op_def stateless_random_normal = stateless({
    .name = "StatelessRandomNormal",
    .doc =
        "Draws numbers from the normal distribution with mean 0 and variance 1.\n\n"
        "Equal seeds give equal numbers, in each run and whatever the number of threads; they are "
        "not the numbers of other implementations.",
    .example = R"(
x = StatelessRandomNormal(i32[3], i64[1, 2])
y = StatelessRandomNormal(i32[3], i64[1, 2])
difference = Sub(x, y)
fetch difference = f32[0, 0, 0]
)",
});

extern constexpr op_def stateless_truncated_normal = stateless({
    .name = "StatelessTruncatedNormal",
    .doc =
        "Draws numbers from the standard normal distribution, again where one is beyond 2.\n\n"
        "Equal seeds give equal numbers, in each run and whatever the number of threads; they are "
        "not the numbers of other implementations.",
    .example = R"(
x = StatelessTruncatedNormal(i32[3], i64[1, 2])
y = StatelessTruncatedNormal(i32[3], i64[1, 2])
difference = Sub(x, y)
fetch difference = f32[0, 0, 0]
)",
});

} // namespace troupe::ops::random_normal_op
