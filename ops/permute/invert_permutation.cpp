// InvertPermutation: the inverse of a permutation.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::invert_permutation_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto dims, at.of_rank(0, 1));
  return shapes{dims};
}

} // namespace

extern constexpr op_def invert_permutation{
    .name = "InvertPermutation",
    .doc = "Gives the permutation y with y[x[i]] = i.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", index_types, dtype::i32}},
    .infer = infer,
    .no_gradient = "positions are whole numbers",
    .example = R"(
y = InvertPermutation(i32[2, 0, 1])
fetch y = i32[1, 2, 0]
)",
};

} // namespace troupe::ops::invert_permutation_op
