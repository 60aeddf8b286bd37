#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops::placeholder_cpu {
namespace {

status run(kernel_context& at) {
  const auto& origin = at.origin();
  return invalid("placeholder '", origin.name(), "' must be fed a value of type ",
                 origin.output_type(0), " and shape ", origin.output_shape(0));
}

} // namespace

extern constexpr kernel_def placeholder_cpu{
    .op = "Placeholder",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops::placeholder_cpu
