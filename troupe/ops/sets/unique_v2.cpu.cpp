#include "troupe/ops/sets/shared/unique.cpu.hpp"

namespace troupe::ops::unique_v2_cpu {
namespace {

status run(kernel_context& at) { return unique_slices(at).status(); }

} // namespace

extern constexpr kernel_def unique_v2_cpu{
    .op = "UniqueV2",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops::unique_v2_cpu
