#include "troupe/ops/array/recast.hpp"
#include "troupe/runtime/kernel.hpp"

#include <cstring>

namespace troupe::ops {
namespace {

status run(kernel_context& at) {
  const auto& x = at.input(0);
  TROUPE_ASSIGN(auto extents, recast_extents(x.dims().extents(), x.type(), at.output_type(0)));
  TROUPE_ASSIGN(auto dims, shape::make(extents));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  const auto* from = static_cast<const char*>(x.raw());
  auto* to = static_cast<char*>(out->raw());
  at.parallel_for(static_cast<int64_t>(x.bytes()), 0.1, [&](int64_t begin, int64_t end) {
    std::memcpy(to + begin, from + begin, static_cast<size_t>(end - begin));
  });
  return {};
}

} // namespace

extern constexpr kernel_def bitcast_cpu{
    .op = "Bitcast",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops
