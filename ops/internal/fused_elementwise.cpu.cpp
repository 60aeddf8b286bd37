#include "troupe/ops/internal/expression.hpp"

namespace troupe::ops::fused_elementwise_cpu {
namespace {

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  TROUPE_ASSIGN(auto fused_expression, expression::of(setup.origin));
  return std::shared_ptr<void>{std::make_shared<expression>(std::move(fused_expression))};
}

status run(kernel_context& at) { return at.state<expression>().run(at); }

} // namespace

extern constexpr kernel_def fused_cpu{
    .op = "_Fused",
    .run = {{dtype::none, run}},
    .prepare = prepare,
};

} // namespace troupe::ops::fused_elementwise_cpu
