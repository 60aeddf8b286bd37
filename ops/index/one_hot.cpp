// OneHot: turns positions into rows with a single 1.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::one_hot_op {
namespace {

result<shapes> infer(const infer_context& at) {
  for (int i = 1; i < 4; ++i)
    TROUPE_TRY(at.of_rank(i, 0));
  const auto& indices = at.input(0);
  auto depth = at.integers(1);
  if (depth && depth->front() < 0)
    return at.invalid("depth must not be negative, got ", depth->front());
  if (!indices.has_rank())
    return shapes{partial_shape::unknown()};
  TROUPE_ASSIGN(auto axis, resolve_axis(at.attr<int64_t>("axis"), indices.rank() + 1));
  std::vector<int64_t> extents{indices.extents().begin(), indices.extents().end()};
  extents.insert(extents.begin() + axis, depth ? depth->front() : unknown_extent);
  TROUPE_ASSIGN(auto dims, partial_shape::make(extents));
  return shapes{dims};
}

} // namespace

extern constexpr op_def one_hot{
    .name = "OneHot",
    .doc = "Puts on_value where the new axis has the index, off_value elsewhere.\n\nThe new axis "
           "has extent depth and stands before axis `axis` of the indices, by default last. An "
           "index outside of [0, depth) gives off_value only.",
    .inputs = {{"indices", "TI"}, on_host("depth", "i32"), {"on_value", "T"}, {"off_value", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"axis", -1},
              {"T", any_type},
              {"TI", one_of(dtype::u8, dtype::i32, dtype::i64), dtype::i64}},
    .infer = infer,
    .no_gradient = "positions are whole numbers; on_value and off_value are meant to be constant",
    .example = R"(
y = OneHot(i32[0, 2, 5], i32(3), f32(1), f32(0))
fetch y = f32[[1, 0, 0], [0, 0, 1], [0, 0, 0]]
)",
};

} // namespace troupe::ops::one_hot_op
