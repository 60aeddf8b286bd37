// What graphs say to people goes through here.
#pragma once
#include <cstdio>
#include <string>

namespace troupe::ops {

/// Writes at once, so that what several threads say does not mix.
inline void say(std::FILE* to, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), to);
  std::fflush(to);
}

} // namespace troupe::ops
