#include "troupe/runtime/graph/kernel.hpp"

#include <limits>

namespace troupe::ops::shape_cpu {
namespace {

// Output i lists the extents of input i, for each i.
template <class T>
status list_extents(kernel_context& at) {
  for (int i = 0; i < at.inputs(); ++i) {
    const auto& dims = at.input(i).dims();
    TROUPE_ASSIGN(auto* out, at.allocate(i, {dims.rank()}));
    auto* to = out->template data<T>();
    for (auto extent : dims) {
      if (extent > std::numeric_limits<T>::max())
        return invalid("extent ", extent, " of ", dims, " is beyond ", out->type());
      *to++ = static_cast<T>(extent);
    }
  }
  return {};
}

status run_rank(kernel_context& at) {
  TROUPE_ASSIGN(auto* out, at.allocate(0, {}));
  *out->data<int32_t>() = at.input(0).rank();
  return {};
}

template <class T>
status run_size(kernel_context& at) {
  auto count = at.input(0).elements();
  if (count > std::numeric_limits<T>::max())
    return invalid("the number of elements, ", count, ", is beyond ", at.output_type(0));
  TROUPE_ASSIGN(auto* out, at.allocate(0, {}));
  *out->template data<T>() = static_cast<T>(count);
  return {};
}

} // namespace

extern constexpr kernel_def shape_cpu{
    .op = "Shape",
    .run = {{dtype::i32, list_extents<int32_t>}, {dtype::i64, list_extents<int64_t>}},
    .key = "out_type",
};

extern constexpr kernel_def variable_shape_cpu{
    .op = "VariableShape",
    .run = {{dtype::i32, list_extents<int32_t>}, {dtype::i64, list_extents<int64_t>}},
    .key = "out_type",
};

extern constexpr kernel_def shape_n_cpu{
    .op = "ShapeN",
    .run = {{dtype::i32, list_extents<int32_t>}, {dtype::i64, list_extents<int64_t>}},
    .key = "out_type",
};

extern constexpr kernel_def rank_cpu{
    .op = "Rank",
    .run = {{dtype::none, run_rank}},
};

extern constexpr kernel_def size_cpu{
    .op = "Size",
    .run = {{dtype::i32, run_size<int32_t>}, {dtype::i64, run_size<int64_t>}},
    .key = "out_type",
};

} // namespace troupe::ops::shape_cpu
