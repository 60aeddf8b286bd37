#include "troupe/ops/control/shared/output.hpp"
#include "troupe/ops/strings/shared/summarize.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <atomic>

namespace troupe::ops::print_cpu {
namespace {

struct printing {
  std::string message;
  int64_t first_n, summarize;
  std::atomic<int64_t> runs = 0;
};

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  const auto& of = setup.of;
  auto made = std::make_shared<printing>();
  made->message = of.attr<std::string>("message");
  made->first_n = of.attr<int64_t>("first_n");
  made->summarize = of.attr<int64_t>("summarize");
  return std::shared_ptr<void>{std::move(made)};
}

status run(kernel_context& at) {
  at.set_output(0, at.input(0));
  auto& how = at.state<printing>();
  if (how.first_n >= 0 && how.runs.fetch_add(1, std::memory_order_relaxed) >= how.first_n)
    return {};
  auto text = how.message;
  for (int i = 1; i < at.inputs(); ++i)
    text += summarize(at.input(i), how.summarize);
  say(stderr, text + '\n');
  return {};
}

} // namespace

extern constexpr kernel_def print_cpu{
    .op = "Print",
    .run = {{dtype::none, run}},
    .prepare = prepare,
};

} // namespace troupe::ops::print_cpu
