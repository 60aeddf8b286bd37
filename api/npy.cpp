#include "troupe/api/npy.hpp"
// Reads and writes .npy files.

#include "troupe/api/error.hpp"
#include "troupe/serialization/arrays/npy.hpp"
#include "troupe/serialization/storage/file.hpp"

namespace troupe {

tensor load_npy(const std::string& path) {
  auto content = value_or_throw(read_file(path));
  auto value = read_npy(std::as_bytes(std::span{content}));
  if (!value)
    throw error{value.status().with_context(path)};
  return *std::move(value);
}

void save_npy(const std::string& path, const tensor& value) {
  auto content = write_npy(value);
  if (!content)
    throw error{content.status().with_context(path)};
  throw_if_failed(write_file(path, *content));
}

} // namespace troupe
