#include "troupe/ops/index/shared/gather.hpp"
#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::gather_cpu {
namespace {

// Takes slices of input 0 along the axis, at the indices in input 1.
status gather_slices(kernel_context& at, gathering layout) {
  auto [axis, batches] = layout;
  const auto &params = at.input(0), &indices = at.input(1);
  const auto &from = params.dims(), &index_dims = indices.dims();
  TROUPE_ASSIGN(auto dims, gathered(from, index_dims, {axis, batches}));
  auto numbers = to_integers(indices);
  for (auto number : numbers)
    if (number < 0 || number >= from[axis])
      return invalid("indices has ", number, ", but axis ", axis, " of params ", from,
                     " has the places [0, ", from[axis], ')');
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  if (out->elements() == 0)
    return {};
  auto length = product(from, axis + 1, from.rank());
  if (axis == 0) {
    take_blocks(at, params, {numbers.begin(), numbers.end()}, length, *out);
    return {};
  }
  auto per_batch = product(index_dims, batches, index_dims.rank()),
       outer = product(from, batches, axis);
  std::vector<int64_t> places;
  places.reserve(static_cast<size_t>(out->elements() / length));
  for (int64_t i = 0; i < product(from, 0, axis); ++i)
    for (int64_t k = 0; k < per_batch; ++k)
      places.push_back(i * from[axis] + numbers[static_cast<size_t>(i / outer * per_batch + k)]);
  take_blocks(at, params, places, length, *out);
  return {};
}

status run_gather(kernel_context& at) {
  TROUPE_TRY(check_params(at.input(0)));
  return gather_slices(at, {});
}

status run_gather_v2(kernel_context& at) {
  TROUPE_ASSIGN(auto layout, gathering_of(at, at.state<int64_t>()));
  return gather_slices(at, layout);
}

status run_resource_gather(kernel_context& at) {
  TROUPE_ASSIGN(auto layout, gathering_behind(at, at.state<int64_t>()));
  return gather_slices(at, layout);
}

} // namespace

extern constexpr kernel_def resource_gather_cpu{
    .op = "ResourceGather",
    .run = {{dtype::none, run_resource_gather}},
    .prepare = cache_attr<int64_t, "batch_dims">,
};

extern constexpr kernel_def gather_cpu{
    .op = "Gather",
    .run = {{dtype::none, run_gather}},
};

extern constexpr kernel_def gather_v2_cpu{
    .op = "GatherV2",
    .run = {{dtype::none, run_gather_v2}},
    .prepare = cache_attr<int64_t, "batch_dims">,
};

} // namespace troupe::ops::gather_cpu
