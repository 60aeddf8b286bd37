// Drafts of checkpoints, whose names end with a random number.
#pragma once
#include "troupe/actors/base/random_id.hpp"
#include "troupe/runtime/types/status.hpp"

#include <algorithm>
#include <filesystem>
#include <string>

namespace troupe::test {

/// Gives drafts fixed names. Must be created before any random id is drawn, and destroyed after the
/// last one.
struct fixed_draft_names {
  fixed_draft_names() {
    set_random_id_source([] { return uint64_t{7}; });
  }
  fixed_draft_names(const fixed_draft_names&) = delete;
  fixed_draft_names& operator=(const fixed_draft_names&) = delete;
  ~fixed_draft_names() { set_random_id_source({}); }

  static std::string name(int64_t step) { return concat("writing-step-", step, "-7"); }
};

/// The number of drafts in a folder of checkpoints.
inline int64_t drafts_in(const std::filesystem::path& folder) {
  return std::ranges::count_if(std::filesystem::directory_iterator{folder}, [](const auto& entry) {
    return entry.path().filename().string().starts_with("writing-");
  });
}

} // namespace troupe::test
