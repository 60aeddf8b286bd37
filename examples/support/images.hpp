// Images with labels, whatever file they come from.
#pragma once
#include "troupe/troupe.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace examples {

/// Gray images, pixels from 0 to 1, row after row, and what each shows.
struct image_set {
  int64_t height = 0, width = 0, classes = 10;
  std::vector<float> pixels;
  std::vector<int32_t> labels;

  int64_t count() const { return static_cast<int64_t>(labels.size()); }
};

struct image_batch {
  troupe::tensor images; ///< f32[n,height,width,1]
  troupe::tensor labels; ///< i32[n]
};

/// Reads the 8x8 digits of a gzipped CSV file, or the images and labels in a folder in IDX format,
/// as MNIST's ("*-images-idx3-ubyte", "*-labels-idx1-ubyte", gzipped or not). Throws
/// std::runtime_error, and names the file.
image_set read_images(const std::string& path);

/// Holds back one image in `one_in`, always the same ones.
struct image_parts {
  image_set training, test;
};
image_parts hold_back(const image_set& all, int64_t one_in);

/// Copies some images into tensors.
image_batch gather_images(const image_set& from, const int64_t* which, int64_t count);

/// The numbers from 0 to count - 1 in an order that the seed determines, on any machine.
std::vector<int64_t> shuffled(int64_t count, uint64_t seed);

} // namespace examples
