// NearestNeighbors: the closest centers of each point, as k-means needs them.
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/op.hpp"

namespace troupe::ops::nearest_neighbors_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto points, at.of_rank(0, 2));
  TROUPE_ASSIGN(auto centers, at.of_rank(1, 2));
  TROUPE_TRY(at.of_rank(2, 0));
  if (points[1] != centers[1] && points[1] != unknown_extent && centers[1] != unknown_extent)
    return at.invalid("points and centers must have as many columns, got ", points, " and ",
                      centers);
  auto k = at.integers(2);
  if (k && k->front() < 0)
    return at.invalid("k must not be negative, got ", k->front());
  auto count =
      k && centers[0] != unknown_extent ? std::min(k->front(), centers[0]) : unknown_extent;
  partial_shape dims{points[0], count};
  return shapes{dims, dims};
}

} // namespace

extern constexpr op_def nearest_neighbors{
    .name = "NearestNeighbors",
    .doc = "Of each row of points, gives the k rows of centers that are closest, the closest "
           "first: their numbers and the squares of their Euclidean distances.\n\nWhere there are "
           "fewer than k centers, it gives all. Of equally close ones the first comes first.",
    .inputs = {{"points", "f32"}, {"centers", "f32"}, on_host("k", "i64")},
    .outputs = {{"nearest_center_indices", "i64"}, {"nearest_center_distances", "f32"}},
    .attrs = {},
    .infer = infer,
    .no_gradient = "it chooses; TensorFlow has none either",
    .example = R"(
y = NearestNeighbors(f32[[0, 0], [5, 4]], f32[[1, 0], [4, 4], [0, 3]], i64(2))
fetch y = i64[[0, 2], [1, 2]]
fetch y:1 = f32[[1, 9], [1, 26]]
)",
};

} // namespace troupe::ops::nearest_neighbors_op
