// IdentityN: the inputs themselves.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::identity_n_op {
namespace {

result<shapes> infer(const infer_context& at) {
  shapes same;
  for (int i = 0; i < at.inputs(); ++i)
    same.push_back(at.input(i));
  return same;
}

edges gradient(gradient_context& at) {
  edges same;
  for (int i = 0; i < at.inputs(); ++i)
    same.push_back(at.has_output_gradient(i) ? at.output_gradient(i) : edge{});
  return same;
}

} // namespace

extern constexpr op_def identity_n{
    .name = "IdentityN",
    .doc = "Gives its inputs, all of them at once.\n\nWho waits for one output waits for all "
           "inputs. Nothing is copied.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", attr_kind::types}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = IdentityN(f64[1, 2], i64(3))
fetch y = f64[1, 2]
fetch y:1 = i64(3)
)",
};

} // namespace troupe::ops::identity_n_op
