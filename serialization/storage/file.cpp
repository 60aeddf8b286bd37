#include "troupe/serialization/storage/file.hpp"

#include <fstream>

namespace troupe {

result<std::string> read_file(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::string content;
  for (char part[1 << 16]; file; content.append(part, static_cast<size_t>(file.gcount())))
    file.read(part, sizeof part);
  if (file.bad() || !file.eof()) // a folder can be opened, but not read
    return failure(error_kind::not_found, "cannot read ", path);
  return content;
}

status write_file(const std::string& path, std::string_view content) {
  std::ofstream file{path, std::ios::binary};
  if (!file || !file.write(content.data(), static_cast<std::streamsize>(content.size())) ||
      !file.flush())
    return failure(error_kind::unavailable, "cannot write ", path);
  return {};
}

} // namespace troupe
