#include "troupe/runtime/program/required_messages.hpp"

#include <algorithm>

namespace troupe {
namespace {

bool asks_resource(const wait_point& wait) noexcept {
  return wait.answered_by == answer_source::state || wait.answered_by == answer_source::work;
}

} // namespace

message_counts required_messages(const program& compiled) noexcept {
  message_counts counts{.starts = 1,
                        .answers = compiled.waits().size(),
                        .fetches = compiled.fetches().size(),
                        .region_ends = compiled.regions().size()};
  uint64_t to_regions = 0;
  for (const auto& region : compiled.regions())
    to_regions += region.required_tokens;
  counts.tokens = to_regions - counts.starts - counts.answers;
  counts.requests = static_cast<uint64_t>(std::ranges::count_if(compiled.waits(), asks_resource));
  return counts;
}

} // namespace troupe
