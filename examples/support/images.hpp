// Images with labels from files of several formats.
#pragma once
#include "troupe/troupe.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace examples {

/// Gray images: pixels from 0 to 1, row after row, and one label for each image.
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

/// Reads the 8x8 digits of a gzipped CSV file, or a folder with images and labels in IDX format,
/// like MNIST's ("*-images-idx3-ubyte", "*-labels-idx1-ubyte", gzipped or not). Throws
/// std::runtime_error, naming the file.
image_set read_images(const std::string& path);

/// Holds back one image in `one_in`, always the same ones.
struct image_parts {
  image_set training, test;
};
image_parts hold_back(const image_set& images, int64_t one_in);

/// Copies some images into tensors.
image_batch gather_images(const image_set& from, const int64_t* indices, int64_t count);

/// Returns the numbers from 0 to count - 1 in an order that depends only on the seed, on any
/// machine.
std::vector<int64_t> shuffled(int64_t count, uint64_t seed);

} // namespace examples
