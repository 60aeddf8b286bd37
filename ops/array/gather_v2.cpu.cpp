#include "troupe/ops/array/gathering.cpu.hpp"
#include "troupe/ops/attr_state.hpp"

namespace troupe::ops {
namespace {

status run(kernel_context& at) {
  const auto &params = at.input(0).dims(), &indices = at.input(1).dims();
  if (at.input(2).elements() != 1)
    return invalid("axis must be a scalar, got shape ", at.input(2).dims());
  TROUPE_ASSIGN(auto axis, resolve_axis(to_integers(at.input(2))[0], params.rank()));
  auto batches = at.state<int64_t>();
  batches += batches < 0 ? indices.rank() : 0;
  if (batches < 0 || batches > std::min(indices.rank(), axis))
    return invalid("batch_dims must count axes of indices ", indices, " and of params ", params,
                   " before axis ", axis, ", got ", at.state<int64_t>());
  for (int i = 0; i < batches; ++i)
    if (params[i] != indices[i])
      return invalid("the first ", batches, " axes of params ", params, " and indices ", indices,
                     " must be the same");
  return gather_slices(at, axis, static_cast<int>(batches));
}

} // namespace

extern constexpr kernel_def gather_v2_cpu{
    .op = "GatherV2",
    .run = {{dtype::none, run}},
    .prepare = keep_attr<int64_t, "batch_dims">,
};

} // namespace troupe::ops
