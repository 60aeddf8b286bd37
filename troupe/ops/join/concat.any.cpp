#include "troupe/ops/join/shared/concat.hpp"

namespace troupe::ops::concat_any {
namespace {

status run(kernel_context& at) { return concatenate(at, 0, 1); }

} // namespace

extern constexpr kernel_def concat_any{
    .op = "Concat",
    .run = {{dtype::none, run}},
    .on_any_device = true,
};

} // namespace troupe::ops::concat_any
