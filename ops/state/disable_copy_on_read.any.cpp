#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops::disable_copy_on_read_any {
namespace {

status run(kernel_context&) { return {}; }

} // namespace

extern constexpr kernel_def disable_copy_on_read_any{
    .op = "DisableCopyOnRead",
    .run = {{dtype::none, run}},
    .on_any_device = true,
};

} // namespace troupe::ops::disable_copy_on_read_any
