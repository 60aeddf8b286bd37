// Handwritten digits: 8x8 pixels and their labels.
#pragma once
#include "troupe/troupe.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace digits {

inline constexpr int64_t pixels = 64;
inline constexpr int64_t classes = 10;

/// Pixels from 0 to 1, row after row, and one label per row.
struct dataset {
  std::vector<float> images;
  std::vector<int32_t> labels;

  int64_t rows() const { return static_cast<int64_t>(labels.size()); }
  void add(const dataset& from, int64_t row);
};

struct batch {
  troupe::tensor images; ///< f32[n,64]
  troupe::tensor labels; ///< i32[n]
};

/// Reads a gzipped CSV file. Throws std::runtime_error, naming the invalid line.
dataset read(const std::string& path);

struct parts {
  dataset training, test;
};

/// Shuffles with a fixed seed and holds back every fifth row, so that all runs use the same test
/// data.
parts split(const dataset& data);

/// Copies some rows into tensors.
batch gather(const dataset& from, const int64_t* rows, int64_t count);
batch whole(const dataset& from);

/// Returns the numbers from 0 to count - 1 in an order that depends only on the seed, on any
/// machine.
std::vector<int64_t> shuffled(int64_t count, uint64_t seed);

} // namespace digits
