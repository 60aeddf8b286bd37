// CountUpTo: numbers that end.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::count_up_to_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0));
  return shapes{shape{}};
}

} // namespace

extern constexpr op_def count_up_to{
    .name = "CountUpTo",
    .doc = "Counts a scalar variable up by one, and outputs what it was before.\n\nFails with "
           "out_of_range, the end of data, when the variable has reached limit.",
    .inputs = {ref("ref", "T")},
    .outputs = {{"output", "T"}},
    .attrs = {{"limit", attr_kind::integer}, {"T", index_types}},
    .effects = effect::stateful,
    .infer = infer,
    .no_gradient = "state does not carry gradients",
    .example = R"(
v = VariableV2 dtype=i32 shape=[]
init = Assign(v, i32(6))
next = CountUpTo(v) limit=7
target init
run
fetch next = i32(6)
run
fetch next
error out_of_range "has reached the limit 7"
)",
};

} // namespace troupe::ops::count_up_to_op
