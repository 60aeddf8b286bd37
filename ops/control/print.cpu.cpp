#include "troupe/ops/strings/shared/summarize.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <atomic>
#include <cstdio>
#include <string>

namespace troupe::ops::print_cpu {
namespace {

// Writes one text in one call, so that texts of several threads do not interleave.
void say(std::FILE* to, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), to);
  std::fflush(to);
}

struct printing {
  std::string message;
  int64_t first_n, summarize;
  std::atomic<int64_t> runs = 0;
};

result<std::shared_ptr<void>> prepare_print(const kernel_setup& setup) {
  const auto& print_node = setup.origin;
  auto state = std::make_shared<printing>();
  state->message = print_node.attr<std::string>("message");
  state->first_n = print_node.attr<int64_t>("first_n");
  state->summarize = print_node.attr<int64_t>("summarize");
  return std::shared_ptr<void>{std::move(state)};
}

status run_print(kernel_context& at) {
  at.set_output(0, at.input(0));
  auto& state = at.state<printing>();
  if (state.first_n >= 0 && state.runs.fetch_add(1, std::memory_order_relaxed) >= state.first_n)
    return {};
  auto text = state.message;
  for (int i = 1; i < at.inputs(); ++i)
    text += summarize(at.input(i), state.summarize);
  say(stderr, text + '\n');
  return {};
}

struct stream_and_end {
  std::FILE* to;
  std::string end;
};

result<std::shared_ptr<void>> prepare_print_v2(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<stream_and_end>(
      stream_and_end{setup.origin.attr<std::string>("output_stream") == "stdout" ? stdout : stderr,
                     setup.origin.attr<std::string>("end")})};
}

status run_print_v2(kernel_context& at) {
  if (at.input(0).rank() != 0)
    return invalid("input must be a scalar, got shape ", at.input(0).dims());
  const auto& settings = at.state<stream_and_end>();
  say(settings.to, *at.input(0).data<std::string>() + settings.end);
  return {};
}

} // namespace

extern constexpr kernel_def print_cpu{
    .op = "Print",
    .run = {{dtype::none, run_print}},
    .prepare = prepare_print,
};

extern constexpr kernel_def print_v2_cpu{
    .op = "PrintV2",
    .run = {{dtype::none, run_print_v2}},
    .prepare = prepare_print_v2,
};

} // namespace troupe::ops::print_cpu
