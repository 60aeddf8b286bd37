// The kernel of ops that take strings apart.
#pragma once
#include "troupe/ops/kernel/text.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <algorithm>
#include <vector>

namespace troupe::ops {

using pieces = std::vector<std::string_view>;

/// Splits each string of input 0 by input 1: `split(text, delimiter, pieces)` appends.
template <class Split>
status split_strings(kernel_context& at, Split&& split) {
  const auto &input = at.input(0), &delimiter = at.input(1);
  if (input.rank() != 1 || delimiter.rank() != 0)
    return invalid("input must be a vector and the delimiter a scalar, got shapes ", input.dims(),
                   " and ", delimiter.dims());
  pieces all;
  std::vector<size_t> ends;
  for (const auto& text : input.values<std::string>()) {
    if (ends.size() % 1024 == 1023 && at.stopped())
      return {};
    split(std::string_view{text}, std::string_view{*delimiter.data<std::string>()}, all);
    ends.push_back(all.size());
  }
  auto count = static_cast<int64_t>(all.size());
  TROUPE_ASSIGN(auto* indices, at.allocate(0, shape{count, 2}));
  TROUPE_ASSIGN(auto* values, at.allocate(1, shape{count}));
  TROUPE_ASSIGN(auto* dims, at.allocate(2, shape{2}));
  std::ranges::copy(all, values->template data<std::string>());
  auto* to = indices->template data<int64_t>();
  size_t next = 0, widest = 0;
  for (size_t row = 0; row < ends.size(); ++row) {
    widest = std::max(widest, ends[row] - next);
    for (size_t first = next; next < ends[row]; ++next) {
      *to++ = static_cast<int64_t>(row);
      *to++ = static_cast<int64_t>(next - first);
    }
  }
  dims->template data<int64_t>()[0] = input.elements();
  dims->template data<int64_t>()[1] = static_cast<int64_t>(widest);
  return {};
}

} // namespace troupe::ops
