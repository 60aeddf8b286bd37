#include "troupe/ops/sets/shared/unique.cpu.hpp"

namespace troupe::ops::unique_cpu {
namespace {

status run(kernel_context& at) { return unique_elements(at).status(); }

} // namespace

extern constexpr kernel_def unique_cpu{
    .op = "Unique",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops::unique_cpu
