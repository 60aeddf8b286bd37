// Sums of probabilities that are stored as logarithms.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace troupe::ops {

inline constexpr double log_of_zero = -std::numeric_limits<double>::infinity();

/// log(e^a + e^b)
inline double add_logs(double a, double b) {
  auto greater = std::max(a, b), smaller = std::min(a, b);
  return greater == log_of_zero ? log_of_zero : greater + std::log1p(std::exp(smaller - greater));
}

/// Turns the logits of one step into logarithms of probabilities.
template <class T>
void log_probabilities(const T* logits, int64_t classes, double* to) {
  auto greatest = static_cast<double>(*std::max_element(logits, logits + classes));
  double sum = 0;
  for (int64_t c = 0; c < classes; ++c) {
    to[c] = static_cast<double>(logits[c]) - greatest;
    sum += std::exp(to[c]);
  }
  auto log_sum = std::log(sum);
  for (int64_t c = 0; c < classes; ++c)
    to[c] -= log_sum;
}

} // namespace troupe::ops
