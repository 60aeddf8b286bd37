// Shared by the kernels of recurrent cells: the functions of gates, and loops over them.
#pragma once
#include "troupe/ops/elementwise/shared/float_functions.cpu.hpp"
#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/ops/recurrent/shared/expect_shape.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::ops {

inline __attribute__((always_inline)) float squash(float x) { return logistic_function(x); }
inline __attribute__((always_inline)) double squash(double x) { return 1 / (1 + std::exp(-x)); }
inline __attribute__((always_inline)) float tangent(float x) { return hyperbolic_tangent(x); }
inline __attribute__((always_inline)) double tangent(double x) { return std::tanh(x); }

/// Calls `body(row, begin, end)` for pieces of rows that cover a matrix with this many columns.
template <class Body>
void for_cells(const kernel_context& at, int64_t rows, int64_t cells, double cost, Body body) {
  at.parallel_for(rows * cells, cost, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      auto row = begin / cells, first = begin % cells;
      auto last = std::min(cells, first + end - begin);
      body(row, first, last);
      begin += last - first;
    }
  });
}

} // namespace troupe::ops
