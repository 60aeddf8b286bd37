#include "troupe/ops/control/shared/output.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops::print_v2_cpu {
namespace {

struct stream_and_end {
  std::FILE* to;
  std::string end;
};

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<stream_and_end>(
      stream_and_end{setup.of.attr<std::string>("output_stream") == "stdout" ? stdout : stderr,
                     setup.of.attr<std::string>("end")})};
}

status run(kernel_context& at) {
  if (at.input(0).rank() != 0)
    return invalid("input must be a scalar, got shape ", at.input(0).dims());
  const auto& how = at.state<stream_and_end>();
  say(how.to, *at.input(0).data<std::string>() + how.end);
  return {};
}

} // namespace

extern constexpr kernel_def print_v2_cpu{
    .op = "PrintV2",
    .run = {{dtype::none, run}},
    .prepare = prepare,
};

} // namespace troupe::ops::print_v2_cpu
