#include "troupe/ops/element_types.hpp"
#include "troupe/runtime/infer.hpp"

namespace troupe::ops {
namespace {

// TODO(perf): runs on one thread, because rows with the same number meet in one place.
template <class T>
status sum_segments(kernel_context& at) {
  const auto &data = at.input(0), &ids = at.input(1);
  auto leading = ids.rank() <= data.rank()
                     ? data.dims().extents().first(static_cast<size_t>(ids.rank()))
                     : std::span<const int64_t>{};
  if (!std::ranges::equal(leading, ids.dims().extents()))
    return invalid("the shape of segment_ids ", ids.dims(), " must begin the shape of data ",
                   data.dims());
  if (at.input(2).elements() != 1)
    return invalid("num_segments must be a scalar, got shape ", at.input(2).dims());
  auto segments = to_integers(at.input(2))[0];
  std::vector<int64_t> extents{segments};
  auto row = data.dims().extents().subspan(static_cast<size_t>(ids.rank()));
  extents.insert(extents.end(), row.begin(), row.end());
  TROUPE_ASSIGN(auto dims, shape::make(extents));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  auto numbers_of_rows = to_integers(ids);
  auto length = segments > 0 ? out->elements() / segments : 0;
  const T* from = data.data<T>();
  auto* to = out->template data<T>();
  std::fill_n(to, out->elements(), T{});
  int64_t added = 0;
  for (auto id : numbers_of_rows) {
    added += length + 1;
    if (added > 500'000 && at.stopped())
      return {};
    added = added > 500'000 ? 0 : added;
    if (id >= segments)
      return invalid("segment_ids has ", id, ", but num_segments is ", segments);
    if (id >= 0)
      for (int64_t i = 0; i < length; ++i)
        to[id * length + i] =
            static_cast<T>(wrapping(std::plus<>{}, compute_type<T>{widen(to[id * length + i])},
                                    compute_type<T>{widen(from[i])}));
    from += length;
  }
  return {};
}

template <class... Ts>
constexpr upto<typed_kernel, 18> kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, sum_segments<Ts>}...};
}

} // namespace

extern constexpr kernel_def unsorted_segment_sum_cpu{
    .op = "UnsortedSegmentSum",
    .run = kernels(types::numbers),
};

} // namespace troupe::ops
