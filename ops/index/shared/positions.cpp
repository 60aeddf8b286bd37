#include "troupe/ops/index/shared/positions.hpp"

namespace troupe::ops {
namespace {

edge size_of(edge x) { return build("Size", {x}, {{"out_type", dtype::i64}}); }

edge flat(edge x) { return reshaped(x, integers_like(x, {-1})); }

edge number(edge same_graph, int64_t value) {
  return constant_like(same_graph, tensor::scalar(value));
}

} // namespace

edge positions_of(edge x, int64_t first) {
  auto end = size_of(x);
  if (first != 0)
    end = end + number(x, first);
  return reshaped(build("Range", {number(x, first), end, number(x, 1)}), shape_of(x));
}

edge summed_at(edge positions, edge dy, edge x) {
  auto sums = build("UnsortedSegmentSum", {flat(dy), flat(positions), size_of(x)});
  return reshaped(sums, shape_of(x));
}

} // namespace troupe::ops
