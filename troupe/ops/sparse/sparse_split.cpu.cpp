#include "troupe/ops/sparse/shared/sparse.hpp"

namespace troupe::ops::sparse_split_cpu {
namespace {

status run(kernel_context& at) {
  if (at.input(0).rank() != 0)
    return invalid("split_dim must be a scalar, got shape ", at.input(0).dims());
  TROUPE_ASSIGN(auto x, sparse_view::read(at, sparse_inputs{1}));
  TROUPE_ASSIGN(auto axis, resolve_axis(*at.input(0).data<int64_t>(), x.rank()));
  int64_t parts = at.outputs() / 3, extent = x.dims()[axis];
  if (parts > extent)
    return invalid("cannot cut the extent ", extent, " of axis ", axis, " into ", parts, " blocks");
  auto length = extent / parts, longer = extent % parts;
  auto longer_end = longer * (length + 1);
  std::vector<std::vector<int64_t>> kept(static_cast<size_t>(parts));
  for (int64_t i = 0; i < x.count(); ++i) {
    auto place = x.index(i)[static_cast<size_t>(axis)];
    auto part = place < longer_end ? place / (length + 1) : longer + (place - longer_end) / length;
    kept[static_cast<size_t>(part)].push_back(i);
  }
  int64_t begin = 0;
  for (int part = 0; part < parts; ++part) {
    auto dims = x.dims();
    dims.set(axis, length + (part < longer ? 1 : 0));
    sparse_block block{dims, {}};
    block.start[static_cast<size_t>(axis)] = begin;
    begin += dims[axis];
    const auto& which = kept[static_cast<size_t>(part)];
    std::vector<int64_t> positions;
    for (auto i : which)
      positions.push_back(*block.position_of(x.index(i)));
    TROUPE_TRY(make_indices(at, part, positions, dims));
    TROUPE_TRY(make_values(at, static_cast<int>(parts) + part, x.values(), which));
    TROUPE_TRY(make_dims(at, 2 * static_cast<int>(parts) + part, dims));
  }
  return {};
}

} // namespace

extern constexpr kernel_def sparse_split_cpu{
    .op = "SparseSplit",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops::sparse_split_cpu
