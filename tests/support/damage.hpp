// Reads of damaged files: each must be an error, or give the undamaged content.
#pragma once
#include "tests/support/catch.hpp"
#include "tests/support/simulated_disk.hpp"

#include <functional>

namespace troupe::test {

/// Reads a file with each byte changed, and truncated at each length. `read` prints the whole
/// content of the file, or fails. Every change must be an error that names the file, or change
/// nothing.
inline void check_damage(const std::string& path, const std::string& content,
                         const std::function<result<std::string>(file_system&)>& read,
                         const std::function<void(simulated_disk&)>& prepare = {}) {
  simulated_disk disk{1};
  if (prepare)
    prepare(disk);
  disk.put(path, content);
  auto before = read(disk);
  INFO(before.status());
  REQUIRE(before);
  size_t refused = 0;
  auto check = [&](const std::string& damaged) {
    disk.put(path, damaged);
    auto after = read(disk);
    if (after) {
      if (*after != *before)
        CHECK(*after == *before);
    } else {
      ++refused;
      auto named = after.status().message().find(name_of_file(path)) != std::string::npos;
      if (!named || after.status().message().size() > 1000)
        CHECK(after.status().message() == "names the file");
    }
  };
  for (size_t position = 0; position < content.size(); ++position)
    for (int change : {0x01, 0x80, 0xff}) {
      INFO("byte " << position << " of " << content.size());
      auto damaged = content;
      damaged[position] = static_cast<char>(damaged[position] ^ change);
      check(damaged);
    }
  for (size_t size = 0; size < content.size(); ++size) {
    INFO("the first " << size << " bytes of " << content.size());
    check(content.substr(0, size));
  }
  CHECK(refused > content.size());
}

} // namespace troupe::test
