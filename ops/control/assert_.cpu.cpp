#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/strings/shared/summarize.hpp"

namespace troupe::ops::assert_cpu {
namespace {

status run(kernel_context& at) {
  if (at.input(0).rank() != 0)
    return invalid("condition must be a scalar, got shape ", at.input(0).dims());
  if (*at.input(0).data<bool>())
    return {};
  std::string data;
  for (int i = 1; i < at.inputs(); ++i)
    data += ' ' + summarize(at.input(i), at.state<int64_t>());
  return invalid("the assertion does not hold:", data);
}

} // namespace

extern constexpr kernel_def assert__cpu{
    .op = "Assert",
    .run = {{dtype::none, run}},
    .prepare = cache_attr<int64_t, "summarize">,
};

} // namespace troupe::ops::assert_cpu
