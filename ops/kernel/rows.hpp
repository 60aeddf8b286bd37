// Rows of a variable, named by indices: what scatters and sparse updates share.
#pragma once
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

/// Checks what is known of the shapes: `values` must have the shape of `indices`, followed by that
/// of a row of `dims`. Indices have the rank given; -1 for any.
status infer_rows(const infer_context& at, const partial_shape& dims, int indices, int values,
                  int index_rank = -1);

/// The same for a kernel. A scalar in place of rows stands for all elements where `index_rank` is
/// -1.
status check_rows(const tensor& indices, const tensor& to, const tensor& values,
                  int index_rank = -1);

/// The same; returns the indices, which are all rows of `to`.
result<integer_list> rows_to_update(const tensor& indices, const tensor& to, const tensor& values,
                                    int index_rank = -1);

/// Calls `body(i, rows[i])` for each i. Calls for one row come in order and exclude each other,
/// those for different rows may come at the same time. Runs to its end even if the step is to stop:
/// a variable that is half updated would outlive it.
template <class Body>
void for_rows(device& on, const integer_list& rows, double nanoseconds_per_row, Body&& body) {
  // Rows are dealt out one by one, because frequent ones tend to be neighbours.
  auto hands = static_cast<uint64_t>(on.threads());
  auto count = static_cast<double>(rows.size());
  auto cost = count * nanoseconds_per_row / static_cast<double>(hands);
  on.parallel_for(static_cast<int64_t>(hands), cost, [&](int64_t begin, int64_t end) {
    auto all = begin == 0 && end == static_cast<int64_t>(hands);
    for (size_t i = 0; i < rows.size(); ++i) {
      auto hand = all ? begin : static_cast<int64_t>(static_cast<uint64_t>(rows[i]) % hands);
      if (hand >= begin && hand < end)
        body(static_cast<int64_t>(i), rows[i]);
    }
  });
}

} // namespace troupe::ops
