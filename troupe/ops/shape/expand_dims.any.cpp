#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <algorithm>

namespace troupe::ops::expand_dims_any {
namespace {

status run(kernel_context& at) {
  const auto& x = at.input(0);
  auto axis = to_integers(at.input(1));
  if (axis.size() != 1)
    return invalid("dim must be one number, got shape ", at.input(1).dims());
  TROUPE_ASSIGN(auto before, resolve_axis(axis[0], x.rank() + 1));
  integer_list extents{static_cast<size_t>(x.rank()) + 1};
  auto* rest = std::copy_n(x.dims().begin(), before, extents.begin());
  *rest = 1;
  std::copy(x.dims().begin() + before, x.dims().end(), rest + 1);
  TROUPE_ASSIGN(auto dims, shape::make(extents));
  at.set_output(0, x.reshaped(dims));
  return {};
}

} // namespace

extern constexpr kernel_def expand_dims_any{
    .op = "ExpandDims",
    .run = {{dtype::none, run}},
    .on_any_device = true,
};

} // namespace troupe::ops::expand_dims_any
