// Drafts of checkpoints, whose names end with a random number.
#pragma once
#include "troupe/actors/base/random_id.hpp"
#include "troupe/runtime/types/status.hpp"

#include <algorithm>
#include <filesystem>
#include <string>

namespace troupe::test {

/// Lets drafts have names that a test knows. To be made before anything that draws numbers, and to
/// be destroyed after it.
struct known_drafts {
  known_drafts() {
    draw_random_ids_from([] { return uint64_t{7}; });
  }
  known_drafts(const known_drafts&) = delete;
  known_drafts& operator=(const known_drafts&) = delete;
  ~known_drafts() { draw_random_ids_from({}); }

  static std::string name(int64_t step) { return concat("writing-step-", step, "-7"); }
};

/// How many drafts a folder of checkpoints has.
inline int64_t drafts_in(const std::filesystem::path& folder) {
  return std::ranges::count_if(std::filesystem::directory_iterator{folder}, [](const auto& entry) {
    return entry.path().filename().string().starts_with("writing-");
  });
}

} // namespace troupe::test
