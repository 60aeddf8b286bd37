#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/sparse/shared/sparse.hpp"

namespace troupe::ops::sparse_concat_cpu {
namespace {

// An element's position in the result, and its source: the input and the index there.
struct origin {
  int64_t position, part, i;
};

status run_sparse_concat(kernel_context& at) {
  auto parts = at.inputs() / 3;
  std::vector<sparse_view> xs;
  for (int i = 0; i < parts; ++i) {
    TROUPE_ASSIGN(auto x, sparse_view::read(at, {i, parts + i, 2 * parts + i}));
    xs.push_back(std::move(x));
  }
  auto dims = xs.front().dims();
  TROUPE_ASSIGN(auto axis, resolve_axis(at.state<int64_t>(), dims.rank()));
  int64_t extent = 0, count = 0;
  for (const auto& x : xs) {
    auto other_extents = x.dims();
    if (other_extents.rank() == dims.rank())
      other_extents.set(axis, dims[axis]);
    if (!(other_extents == dims))
      return invalid("all tensors must have one shape but for axis ", axis, ", got ", x.dims(),
                     " after ", dims);
    if (__builtin_add_overflow(extent, x.dims()[axis], &extent))
      return invalid("the tensors are too large together");
    count += x.count();
  }
  dims.set(axis, extent);
  TROUPE_ASSIGN(dims, shape::make(dims.extents()));
  std::vector<origin> origins;
  origins.reserve(static_cast<size_t>(count));
  int64_t begin = 0;
  for (size_t part = 0; part < xs.size(); ++part) {
    for (int64_t i = 0; i < xs[part].count(); ++i) {
      int64_t position = 0;
      for (int k = 0; k < dims.rank(); ++k)
        position = position * dims[k] + xs[part].index(i)[static_cast<size_t>(k)] +
                   (k == axis ? begin : 0);
      origins.push_back({position, static_cast<int64_t>(part), i});
    }
    begin += xs[part].dims()[axis];
  }
  std::ranges::stable_sort(origins, {}, &origin::position);
  std::vector<int64_t> positions(origins.size());
  std::ranges::transform(origins, positions.begin(), &origin::position);
  TROUPE_TRY(make_indices(at, 0, positions, dims));
  TROUPE_ASSIGN(auto* out, at.allocate(1, shape{count}));
  for (size_t i = 0; i < origins.size(); ++i)
    copy_elements({xs[static_cast<size_t>(origins[i].part)].values(), origins[i].i},
                  {*out, static_cast<int64_t>(i)}, 1);
  return make_dims(at, 2, dims);
}

status run_sparse_split(kernel_context& at) {
  if (at.input(0).rank() != 0)
    return invalid("split_dim must be a scalar, got shape ", at.input(0).dims());
  TROUPE_ASSIGN(auto x, sparse_view::read(at, sparse_inputs{1}));
  TROUPE_ASSIGN(auto axis, resolve_axis(*at.input(0).data<int64_t>(), x.rank()));
  int64_t parts = at.outputs() / 3, extent = x.dims()[axis];
  if (parts > extent)
    return invalid("cannot cut the extent ", extent, " of axis ", axis, " into ", parts, " blocks");
  auto length = extent / parts, longer = extent % parts;
  auto longer_end = longer * (length + 1);
  std::vector<std::vector<int64_t>> part_elements(static_cast<size_t>(parts));
  for (int64_t i = 0; i < x.count(); ++i) {
    auto place = x.index(i)[static_cast<size_t>(axis)];
    auto part = place < longer_end ? place / (length + 1) : longer + (place - longer_end) / length;
    part_elements[static_cast<size_t>(part)].push_back(i);
  }
  int64_t begin = 0;
  for (int part = 0; part < parts; ++part) {
    auto dims = x.dims();
    dims.set(axis, length + (part < longer ? 1 : 0));
    sparse_block block{dims, {}};
    block.start[static_cast<size_t>(axis)] = begin;
    begin += dims[axis];
    const auto& element_numbers = part_elements[static_cast<size_t>(part)];
    std::vector<int64_t> positions;
    for (auto i : element_numbers)
      positions.push_back(*block.position_of(x.index(i)));
    TROUPE_TRY(make_indices(at, part, positions, dims));
    TROUPE_TRY(make_values(at, static_cast<int>(parts) + part, x.values(), element_numbers));
    TROUPE_TRY(make_dims(at, 2 * static_cast<int>(parts) + part, dims));
  }
  return {};
}

} // namespace

extern constexpr kernel_def sparse_concat_cpu{
    .op = "SparseConcat",
    .run = {{dtype::none, run_sparse_concat}},
    .prepare = cache_attr<int64_t, "concat_dim">,
};

extern constexpr kernel_def sparse_split_cpu{
    .op = "SparseSplit",
    .run = {{dtype::none, run_sparse_split}},
};

} // namespace troupe::ops::sparse_concat_cpu
