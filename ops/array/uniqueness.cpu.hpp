// What the kernels of Unique, UniqueV2 and UniqueWithCounts share.
#pragma once
#include "troupe/ops/copy.hpp"
#include "troupe/ops/distinct.hpp"

#include <limits>

namespace troupe::ops {

/// Which of some rows are the first of their kind, and for each row the number of its kind.
struct kinds {
  std::vector<int64_t> first;
  std::vector<int64_t> of_row;
};

inline kinds kinds_of(kernel_context& at, const tensor& x, int64_t rows, int64_t length) {
  kinds found;
  distinct_rows different{x.type(), length};
  for (int64_t i = 0; i < rows && !(i % 10'000 == 9'999 && at.stopped()); ++i) {
    found.of_row.push_back(different.number_of(element_at(x, i * length)));
    if (found.of_row.back() == static_cast<int64_t>(found.first.size()))
      found.first.push_back(i);
  }
  return found;
}

/// Makes output i an index vector of these numbers.
inline status put_integers(kernel_context& at, int i, const std::vector<int64_t>& values) {
  TROUPE_ASSIGN(auto* out, at.allocate(i, {static_cast<int64_t>(values.size())}));
  if (out->type() == dtype::i32 && out->elements() > int64_t{std::numeric_limits<int32_t>::max()})
    return invalid("more places than an i32 can name");
  for (size_t k = 0; k < values.size(); ++k)
    set_integer(*out, static_cast<int64_t>(k), values[k]);
  return {};
}

/// Outputs 0 and 1 from a vector.
inline result<kinds> unique_elements(kernel_context& at) {
  const auto& x = at.input(0);
  if (x.rank() != 1)
    return invalid("x must be a vector, got shape ", x.dims());
  auto found = kinds_of(at, x, x.elements(), 1);
  TROUPE_ASSIGN(auto* y, at.allocate(0, {static_cast<int64_t>(found.first.size())}));
  take_blocks(at, x, found.first, 1, *y);
  TROUPE_TRY(put_integers(at, 1, found.of_row));
  return found;
}

} // namespace troupe::ops
