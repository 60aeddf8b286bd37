#include "troupe/runtime/infer.hpp"
#include "troupe/runtime/kernel.hpp"

namespace troupe::ops {
namespace {

status run(kernel_context& at) {
  const auto& x = at.input(0);
  auto axis = to_integers(at.input(1));
  if (axis.size() != 1)
    return invalid("dim must be one number, got shape ", at.input(1).dims());
  TROUPE_ASSIGN(auto before, resolve_axis(axis[0], x.rank() + 1));
  std::vector<int64_t> extents{x.dims().begin(), x.dims().end()};
  extents.insert(extents.begin() + before, 1);
  TROUPE_ASSIGN(auto dims, shape::make(extents));
  at.set_output(0, x.reshaped(dims));
  return {};
}

} // namespace

extern constexpr kernel_def expand_dims_cpu{
    .op = "ExpandDims",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops
