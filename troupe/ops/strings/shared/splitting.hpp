// Ops that take strings apart: the pieces are a sparse matrix, a row for each string.
#pragma once
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

inline constexpr port_list split_outputs{
    {"indices", "i64"}, {"values", "string"}, {"shape", "i64"}};

inline result<shapes> infer_split(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 1));
  TROUPE_TRY(at.of_rank(1, 0));
  return shapes{{unknown_extent, 2}, {unknown_extent}, shape{2}};
}

} // namespace troupe::ops
