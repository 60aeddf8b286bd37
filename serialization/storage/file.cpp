#include "troupe/serialization/storage/file.hpp"

#include <fstream>

namespace troupe {

result<std::string> read_file(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  std::string content;
  for (char part[1 << 16]; in; content.append(part, static_cast<size_t>(in.gcount())))
    in.read(part, sizeof part);
  if (in.bad() || !in.eof()) // a folder opens, but cannot be read
    return failure(error_kind::not_found, "cannot read ", path);
  return content;
}

status write_file(const std::string& path, std::string_view content) {
  std::ofstream out{path, std::ios::binary};
  if (!out || !out.write(content.data(), static_cast<std::streamsize>(content.size())) ||
      !out.flush())
    return failure(error_kind::unavailable, "cannot write ", path);
  return {};
}

} // namespace troupe
