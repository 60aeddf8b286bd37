// Assert: fails a step whose condition is false.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::assert_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0));
  if (at.inputs() < 2)
    return at.invalid("data must have at least one tensor, to say what is wrong");
  return shapes{};
}

} // namespace

extern constexpr op_def assert_{
    .name = "Assert",
    .doc =
        "Fails the step with the data if the condition is false.\n\n"
        "The error has the first and the last `summarize` elements of each axis of the data, or "
        "all for a negative number. As it has no outputs, other nodes must depend on it for it to "
        "run.",
    .inputs = {{"condition", "bool"}, {"data", "T"}},
    .attrs = {{"T", attr_kind::types}, {"summarize", 3}},
    .effects = effect::stateful,
    .infer = infer,
    .no_gradient = "it has no outputs",
    .example = R"(
x = Placeholder dtype=f32 shape=[3]
check = Assert(bool(true), x)
fail = Assert(bool(false), string("x must be positive:"), x)
feed x = f32[1, -2, 3]
target check
run
feed x = f32[1, -2, 3]
target fail
error invalid_argument "x must be positive"
)",
};

} // namespace troupe::ops::assert_op
