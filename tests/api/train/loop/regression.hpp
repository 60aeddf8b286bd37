// A linear model with one solution, for tests of training with several replicas.
#pragma once
#include "tests/api/train/loop/adder.hpp"
#include "troupe/troupe.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <vector>

namespace troupe::test::regression {

// y = 3 a - 2 b + 0.5
inline replica_step build(graph_builder& g, int) {
  auto x = g.placeholder(dtype::f32, {-1, 2}, "x");
  auto y = g.placeholder(dtype::f32, {-1}, "y");
  auto w = g.variable(fill(g, {2, 1}, 0.0f), "w");
  auto b = g.variable(0.0f, "b");
  auto guess = reshape(matmul(x, w), {-1}) + b;
  return {{x, y}, mean_squared_error(guess, y), {w, b}};
}

inline std::vector<tensor> rows(int64_t seed, int64_t count, float offset) {
  std::mt19937 generator{static_cast<unsigned>(seed)};
  auto x = *tensor::make(dtype::f32, shape{count, 2}), y = *tensor::make(dtype::f32, shape{count});
  auto number = [&] { return static_cast<float>(generator() % 2001) / 1000.0f - 1.0f; };
  for (int64_t i = 0; i < count; ++i) {
    auto a = number(), b = number();
    x.data<float>()[2 * i] = a;
    x.data<float>()[2 * i + 1] = b;
    y.data<float>()[i] = 3 * a - 2 * b + offset;
  }
  return {x, y};
}

inline std::optional<std::vector<tensor>> batch(int64_t n) { return rows(n, 16, 0.5f); }

// A batch whose gradient leads away from the solution.
inline std::vector<tensor> wrong_batch() { return rows(1, 16, 1000.0f); }

inline std::vector<tensor> joined(const std::vector<std::vector<tensor>>& parts) {
  std::vector<tensor> tensors;
  for (size_t i = 0; i < parts.front().size(); ++i) {
    auto dims = parts.front()[i].dims();
    auto part_elements = parts.front()[i].elements();
    std::vector<int64_t> extents{dims.begin(), dims.end()};
    extents[0] *= static_cast<int64_t>(parts.size());
    auto joined_tensor = *tensor::make(dtype::f32, *shape::make(extents));
    for (size_t p = 0; p < parts.size(); ++p)
      std::copy_n(parts[p][i].data<float>(), part_elements,
                  joined_tensor.data<float>() + static_cast<int64_t>(p) * part_elements);
    tensors.push_back(joined_tensor);
  }
  return tensors;
}

inline bool is_found(session& s, const replica_step& built_step) {
  auto w = s.fetch(built_step.extra_fetches[0]), b = s.fetch(built_step.extra_fetches[1]);
  return std::abs(w.data<float>()[0] - 3) < 0.02f && std::abs(w.data<float>()[1] + 2) < 0.02f &&
         std::abs(*b.data<float>() - 0.5f) < 0.02f;
}

} // namespace troupe::test::regression
