// RandomUniformInt: even whole numbers, such as for sampling from a table.
#include "troupe/ops/random/shared/random.hpp"

namespace troupe::ops::random_uniform_int_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(at.of_rank(1, 0));
  TROUPE_TRY(at.of_rank(2, 0));
  auto least = at.integers(1), bound = at.integers(2);
  if (least && bound && least->front() >= bound->front())
    return at.invalid("minval must be less than maxval, got ", least->front(), " and ",
                      bound->front());
  return infer_drawn(at);
}

} // namespace

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

} // namespace troupe::ops::random_uniform_int_op
