#include "troupe/ops/permute/shared/transpose.hpp"

namespace troupe::ops::transpose_any {
namespace {

status run(kernel_context& at) {
  TROUPE_ASSIGN(auto out, transposed(at));
  at.set_output(0, std::move(out));
  return {};
}

} // namespace

extern constexpr kernel_def transpose_any{
    .op = "Transpose",
    .run = {{dtype::none, run}},
    .on_any_device = true,
};

} // namespace troupe::ops::transpose_any
