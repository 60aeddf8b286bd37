#include "troupe/runtime/graph/kernel.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace troupe::ops::nearest_neighbors_cpu {
namespace {

float squared_distance(const float* a, const float* b, int64_t columns) {
  float sum = 0;
  for (int64_t i = 0; i < columns; ++i)
    sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

status run(kernel_context& at) {
  const auto &points = at.input(0), &centers = at.input(1), &neighbor_limit = at.input(2);
  if (points.rank() != 2 || centers.rank() != 2 || points.dims()[1] != centers.dims()[1])
    return invalid("points and centers must be matrices of as many columns, got ", points.dims(),
                   " and ", centers.dims());
  if (neighbor_limit.elements() != 1 || *neighbor_limit.data<int64_t>() < 0)
    return invalid("k must be a number that is not negative, got ", neighbor_limit);
  auto rows = points.dims()[0], columns = points.dims()[1], all = centers.dims()[0];
  auto k = std::min(*neighbor_limit.data<int64_t>(), all);
  TROUPE_ASSIGN(auto* numbers, at.allocate(0, shape{rows, k}));
  TROUPE_ASSIGN(auto* distances, at.allocate(1, shape{rows, k}));
  auto* number = numbers->data<int64_t>();
  auto* distance = distances->data<float>();
  auto cost = static_cast<double>(all) * (static_cast<double>(columns) + 4);
  at.parallel_for(rows, cost, [&](int64_t begin, int64_t end) {
    std::vector<std::pair<float, int64_t>> nearest(static_cast<size_t>(all));
    for (auto row = begin; row < end && !at.stopped(); ++row) {
      const auto* point = points.data<float>() + row * columns;
      for (int64_t i = 0; i < all; ++i)
        nearest[static_cast<size_t>(i)] = {
            squared_distance(point, centers.data<float>() + i * columns, columns), i};
      std::partial_sort(nearest.begin(), nearest.begin() + k, nearest.end());
      for (int64_t i = 0; i < k; ++i) {
        distance[row * k + i] = nearest[static_cast<size_t>(i)].first;
        number[row * k + i] = nearest[static_cast<size_t>(i)].second;
      }
    }
  });
  return {};
}

} // namespace

extern constexpr kernel_def nearest_neighbors_cpu{
    .op = "NearestNeighbors",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops::nearest_neighbors_cpu
