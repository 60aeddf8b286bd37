#include "examples/support/digits.hpp"
// Reads handwritten digits from a CSV file.

#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>

namespace digits {
namespace {

constexpr uint64_t split_seed = 1998;
constexpr float brightest = 16;

void read_line(const std::string& line, int number, dataset& target) {
  const char* position = line.c_str();
  auto next = [&](int limit) {
    char* end = nullptr;
    auto value = std::strtol(position, &end, 10);
    if (end == position || value < 0 || value > limit)
      throw std::runtime_error{"line " + std::to_string(number) + " is not 64 pixels and a digit"};
    position = *end == ',' ? end + 1 : end;
    return value;
  };
  for (int64_t i = 0; i < pixels; ++i)
    target.images.push_back(static_cast<float>(next(16)) / brightest);
  target.labels.push_back(static_cast<int32_t>(next(classes - 1)));
}

} // namespace

void dataset::add(const dataset& from, int64_t row) {
  auto first = from.images.begin() + row * pixels;
  images.insert(images.end(), first, first + pixels);
  labels.push_back(from.labels[static_cast<size_t>(row)]);
}

dataset read(const std::string& path) {
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file{gzopen(path.c_str(), "rb"), gzclose};
  if (!file)
    throw std::runtime_error{"cannot read " + path};
  dataset digits_of_file;
  char line[1024];
  for (int number = 1; gzgets(file.get(), line, sizeof line); ++number)
    read_line(line, number, digits_of_file);
  if (digits_of_file.labels.empty())
    throw std::runtime_error{path + " holds no digits"};
  return digits_of_file;
}

std::vector<int64_t> shuffled(int64_t count, uint64_t seed) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), int64_t{0});
  // std::shuffle may differ between standard libraries.
  std::mt19937_64 random{seed};
  for (auto remaining = order.size(); remaining > 1; --remaining)
    std::swap(order[remaining - 1], order[random() % remaining]);
  return order;
}

parts split(const dataset& data) {
  parts split_parts;
  auto order = shuffled(data.rows(), split_seed);
  for (size_t i = 0; i < order.size(); ++i)
    (i % 5 == 0 ? split_parts.test : split_parts.training).add(data, order[i]);
  return split_parts;
}

batch gather(const dataset& from, const int64_t* rows, int64_t count) {
  std::vector<float> images;
  std::vector<int32_t> labels;
  images.reserve(static_cast<size_t>(count * pixels));
  for (int64_t i = 0; i < count; ++i) {
    auto first = from.images.begin() + rows[i] * pixels;
    images.insert(images.end(), first, first + pixels);
    labels.push_back(from.labels[static_cast<size_t>(rows[i])]);
  }
  return {troupe::tensor::from_values({count, pixels}, images), troupe::tensor::vector(labels)};
}

batch whole(const dataset& from) {
  return {troupe::tensor::from_values({from.rows(), pixels}, from.images),
          troupe::tensor::vector(from.labels)};
}

} // namespace digits
