// Uniform random numbers, from the node's stream or from a seed that is an input.
#include "troupe/ops/random/shared/random.hpp"

namespace troupe::ops::random_uniform_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(infer_range(at, 1));
  return infer_drawn(at);
}

} // namespace

extern constexpr op_def random_uniform{
    .name = "RandomUniform",
    .doc = "Draws numbers evenly from [0, 1).\n\n"
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
x = RandomUniform(i32[3]) dtype=f32 seed=7
shape = Shape(x)
fetch shape = i32[3]
)",
};

extern constexpr op_def random_uniform_int{
    .name = "RandomUniformInt",
    .doc = "Draws whole numbers evenly from [minval, maxval).\n\n"
           "Where the size of that range does not divide 2^64, the smaller numbers are more "
           "likely by that size in 2^64. Equal seeds give equal numbers, whatever the number of "
           "threads; each run goes on where the last one stopped. With seed and seed2 both 0, "
           "every process draws other numbers.",
    .inputs = {on_host("shape", "T"), {"minval", "Tout"}, {"maxval", "Tout"}},
    .outputs = {{"output", "Tout"}},
    .attrs = {{"seed", 0}, {"seed2", 0}, {"Tout", index_types}, {"T", index_types}},
    .effects = effect::stateful | effect::random,
    .infer = infer,
    .no_gradient = "its output is made of whole numbers",
    .example = R"(
x = RandomUniformInt(i32[2, 2], i64(5), i64(6)) seed=7
fetch x = i64[[5, 5], [5, 5]]
)",
};

extern constexpr op_def stateless_random_uniform = stateless({
    .name = "StatelessRandomUniform",
    .doc =
        "Draws numbers evenly from [0, 1).\n\n"
        "Equal seeds give equal numbers, in each run and whatever the number of threads; they are "
        "not the numbers of other implementations.",
    .example = R"(
x = StatelessRandomUniform(i32[3], i64[1, 2])
y = StatelessRandomUniform(i32[3], i64[1, 2])
difference = Sub(x, y)
fetch difference = f32[0, 0, 0]
)",
});

} // namespace troupe::ops::random_uniform_op
