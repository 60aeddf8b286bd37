#include "examples/support/images.hpp"
// Reads images with labels from CSV or IDX files.

#include "examples/support/digits.hpp"

#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>
#include <stdexcept>

namespace examples {
namespace {

constexpr uint64_t split_seed = 1998;

[[noreturn]] void fail(const std::string& path, const std::string& reason) {
  throw std::runtime_error{path + ": " + reason};
}

// Reads a file of IDX format: two zeros, the type (bytes: 8), the number of extents; the extents,
// big-endian; the elements. zlib reads plain files as well.
std::vector<uint8_t> read_idx(const std::string& path, size_t rank, std::vector<int64_t>& extents) {
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file{gzopen(path.c_str(), "rb"), gzclose};
  if (!file)
    fail(path, "cannot be read");
  auto read = [&](void* target, size_t bytes) {
    if (gzread(file.get(), target, static_cast<unsigned>(bytes)) != static_cast<int>(bytes))
      fail(path, "ends too early");
  };
  uint8_t head[4];
  read(head, 4);
  if (head[0] != 0 || head[1] != 0 || head[2] != 8 || head[3] != rank)
    fail(path, "is not an IDX file of bytes with " + std::to_string(rank) + " extents");
  int64_t size = 1;
  for (size_t i = 0; i < rank; ++i) {
    uint8_t bytes[4];
    read(bytes, 4);
    extents.push_back(int64_t{bytes[0]} << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3]);
    if (extents.back() == 0 || (size *= extents.back()) > int64_t{1} << 30)
      fail(path, "has invalid extents");
  }
  std::vector<uint8_t> elements(static_cast<size_t>(size));
  read(elements.data(), elements.size());
  return elements;
}

std::string find_in(const std::string& folder, std::string_view part) {
  for (const auto& entry : std::filesystem::directory_iterator{folder})
    if (entry.path().filename().string().find(part) != std::string::npos)
      return entry.path().string();
  fail(folder, "holds no file whose name contains " + std::string{part});
}

image_set read_mnist(const std::string& folder) {
  std::vector<int64_t> extents, rows;
  auto image_file = find_in(folder, "images-idx3-ubyte");
  auto label_file = find_in(folder, "labels-idx1-ubyte");
  auto pixels = read_idx(image_file, 3, extents);
  auto labels = read_idx(label_file, 1, rows);
  if (rows[0] != extents[0])
    fail(label_file, "does not have one label for each image of " + image_file);
  image_set images{.height = extents[1], .width = extents[2], .pixels = {}, .labels = {}};
  std::ranges::transform(pixels, std::back_inserter(images.pixels),
                         [](uint8_t pixel) { return static_cast<float>(pixel) / 255; });
  images.labels.assign(labels.begin(), labels.end());
  if (std::ranges::any_of(images.labels, [&](int32_t label) { return label >= images.classes; }))
    fail(label_file, "has labels above 9");
  return images;
}

} // namespace

image_set read_images(const std::string& path) {
  if (std::filesystem::is_directory(path))
    return read_mnist(path);
  auto data = digits::read(path);
  return {
      .height = 8, .width = 8, .pixels = std::move(data.images), .labels = std::move(data.labels)};
}

std::vector<int64_t> shuffled(int64_t count, uint64_t seed) {
  return digits::shuffled(count, seed);
}

image_parts hold_back(const image_set& images, int64_t one_in) {
  image_parts image_split{
      {.height = images.height, .width = images.width, .pixels = {}, .labels = {}}, {}};
  image_split.test = image_split.training;
  auto order = shuffled(images.count(), split_seed);
  auto size = images.height * images.width;
  for (size_t i = 0; i < order.size(); ++i) {
    auto& target = static_cast<int64_t>(i) % one_in == 0 ? image_split.test : image_split.training;
    auto first = images.pixels.begin() + order[i] * size;
    target.pixels.insert(target.pixels.end(), first, first + size);
    target.labels.push_back(images.labels[static_cast<size_t>(order[i])]);
  }
  return image_split;
}

image_batch gather_images(const image_set& from, const int64_t* indices, int64_t count) {
  std::vector<float> pixels;
  std::vector<int32_t> labels;
  auto size = from.height * from.width;
  pixels.reserve(static_cast<size_t>(count * size));
  for (int64_t i = 0; i < count; ++i) {
    auto first = from.pixels.begin() + indices[i] * size;
    pixels.insert(pixels.end(), first, first + size);
    labels.push_back(from.labels[static_cast<size_t>(indices[i])]);
  }
  return {troupe::tensor::from_values({count, from.height, from.width, 1}, pixels),
          troupe::tensor::vector(labels)};
}

} // namespace examples
