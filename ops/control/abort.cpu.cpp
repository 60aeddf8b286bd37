#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <string>

namespace troupe::ops::abort_cpu {
namespace {

struct aborting {
  std::string message;
  bool fails;
};

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  return std::shared_ptr<void>{
      std::make_shared<aborting>(aborting{setup.origin.attr<std::string>("error_msg"),
                                          !setup.origin.attr<bool>("exit_without_error")})};
}

status run(kernel_context& at) {
  const auto& settings = at.state<aborting>();
  if (!settings.fails)
    return {};
  return failure(error_kind::failed_precondition, settings.message.empty()
                                                      ? std::string{"the graph ends the step"}
                                                      : settings.message);
}

} // namespace

extern constexpr kernel_def abort_cpu{
    .op = "Abort",
    .run = {{dtype::none, run}},
    .prepare = prepare,
};

} // namespace troupe::ops::abort_cpu
