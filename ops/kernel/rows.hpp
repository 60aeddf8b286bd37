// Rows of a variable selected by indices: shared by scatters and sparse updates.
#pragma once
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

/// Checks the known parts of the shapes: `values` must have the shape of `indices`, followed by the
/// shape of a row of `dims`. Indices must have the given rank; -1 permits any.
status infer_rows(const infer_context& at, const partial_shape& dims, int indices, int values,
                  int index_rank = -1);

/// The same for a kernel. Where `index_rank` is -1, a scalar in place of rows stands for all
/// elements.
status check_rows(const tensor& indices, const tensor& to, const tensor& values,
                  int index_rank = -1);

/// The same; returns the indices, which are all valid rows of `to`.
result<integer_list> rows_to_update(const tensor& indices, const tensor& to, const tensor& values,
                                    int index_rank = -1);

/// Calls `body(i, rows[i])` for each i. Calls for one row come in order and exclude each other;
/// calls for different rows may be concurrent. It runs to its end even if the step is to stop,
/// because a half-updated variable would remain.
template <class Body>
void for_rows(device& on, const integer_list& rows, double nanoseconds_per_row, Body&& body) {
  // Rows are distributed one by one, because frequent rows tend to be adjacent.
  auto parts = static_cast<uint64_t>(on.threads());
  auto count = static_cast<double>(rows.size());
  auto cost = count * nanoseconds_per_row / static_cast<double>(parts);
  on.parallel_for(static_cast<int64_t>(parts), cost, [&](int64_t begin, int64_t end) {
    auto takes_every_row = begin == 0 && end == static_cast<int64_t>(parts);
    for (size_t i = 0; i < rows.size(); ++i) {
      auto part =
          takes_every_row ? begin : static_cast<int64_t>(static_cast<uint64_t>(rows[i]) % parts);
      if (part >= begin && part < end)
        body(static_cast<int64_t>(i), rows[i]);
    }
  });
}

} // namespace troupe::ops
