#include "troupe/ops/index/shared/nd_indices.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/copy.hpp"

namespace troupe::ops::gather_nd_cpu {
namespace {

status run(kernel_context& at) {
  const auto& params = at.input(0);
  TROUPE_ASSIGN(auto blocks, blocks_named(at, at.input(1), params.dims(), at.state<std::string>()));
  TROUPE_ASSIGN(auto* out, at.allocate(0, blocks.dims));
  if (out->elements() > 0)
    take_blocks(at, params, blocks.places, blocks.length, *out);
  return {};
}

} // namespace

extern constexpr kernel_def gather_nd_cpu{
    .op = "GatherNd",
    .run = {{dtype::none, run}},
    .prepare = cache_attr<std::string, "bad_indices_policy">,
};

} // namespace troupe::ops::gather_nd_cpu
