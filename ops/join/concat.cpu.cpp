#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <algorithm>

namespace troupe::ops::concat_cpu {
namespace {

template <class T>
status run(kernel_context& at) {
  if (at.input(0).elements() != 1)
    return invalid("concat_dim must be a scalar, got shape ", at.input(0).dims());
  const auto& first = at.input(1);
  if (first.rank() != 1)
    return invalid("shapes must be vectors, got shape ", first.dims());
  TROUPE_ASSIGN(auto axis,
                resolve_axis(to_integers(at.input(0))[0],
                             static_cast<int>(std::min<int64_t>(first.elements(), max_rank))));
  T begin = 0;
  for (int i = 0; i < at.outputs(); ++i) {
    const auto& dims = at.input(i + 1);
    if (!(dims.dims() == first.dims()))
      return invalid("all shapes must list ", first.elements(), " extents, got shape ",
                     dims.dims());
    TROUPE_ASSIGN(auto* out, at.allocate(i, dims.dims()));
    auto* to = out->template data<T>();
    std::fill_n(to, out->elements(), T{0});
    to[axis] = begin;
    const T *extents = dims.data<T>(), *first_extents = first.data<T>();
    for (int64_t k = 0; k < dims.elements(); ++k)
      if (k == axis ? __builtin_add_overflow(begin, extents[k], &begin)
                    : extents[k] != first_extents[k])
        return invalid("the shapes must be the same but for axis ", axis, ", got ", dims, " after ",
                       first);
  }
  return {};
}

} // namespace

extern constexpr kernel_def concat_offset_cpu{
    .op = "ConcatOffset",
    .run = {{dtype::i32, run<int32_t>}, {dtype::i64, run<int64_t>}},
    .key = "shape_type",
};

} // namespace troupe::ops::concat_cpu
