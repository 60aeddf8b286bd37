#include "troupe/ops/sparse/sparse_to_dense.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/copy.hpp"

namespace troupe::ops::sparse_to_dense_cpu {
namespace {

status run(kernel_context& at) {
  const auto &values = at.input(2), &otherwise = at.input(3);
  TROUPE_ASSIGN(auto indices, listed(at.input(0)));
  TROUPE_ASSIGN(auto x, sparse_view::make(indices, at.input(1)));
  TROUPE_TRY(check_scattered(values, otherwise, x.count()));
  if (at.state<bool>())
    TROUPE_TRY(x.in_order());
  TROUPE_ASSIGN(auto* out, at.allocate(0, x.dims()));
  fill_elements(otherwise, {*out}, out->elements());
  with_word(values.type(), [&](auto word_type) {
    using T = typename decltype(word_type)::type;
    const auto* from = static_cast<const T*>(values.raw());
    auto step = values.rank();
    for (auto position : x.positions()) {
      static_cast<T*>(out->raw())[position] = *from;
      from += step;
    }
  });
  return {};
}

} // namespace

extern constexpr kernel_def sparse_to_dense_cpu{
    .op = "SparseToDense",
    .run = {{dtype::none, run}},
    .prepare = cache_attr<bool, "validate_indices">,
};

} // namespace troupe::ops::sparse_to_dense_cpu
