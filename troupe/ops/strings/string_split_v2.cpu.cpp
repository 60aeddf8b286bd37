#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/strings/shared/splitting.cpu.hpp"

namespace troupe::ops::string_split_v2_cpu {
namespace {

void split_at(std::string_view text, std::string_view separator, int64_t most, pieces& to) {
  for (int64_t found = 0; found != most; ++found) { // as often as there are, for a negative one
    auto end = text.find(separator);
    if (end == text.npos)
      break;
    to.push_back(text.substr(0, end));
    text.remove_prefix(end + separator.size());
  }
  to.push_back(text);
}

void split_words(std::string_view text, int64_t most, pieces& to) {
  auto skip_space = [&] {
    text.remove_prefix(
        static_cast<size_t>(std::ranges::find_if_not(text, is_space) - text.begin()));
  };
  if (most == 0)
    return to.push_back(text);
  for (skip_space(); !text.empty(); skip_space()) {
    auto length = static_cast<size_t>(std::ranges::find_if(text, is_space) - text.begin());
    to.push_back(text.substr(0, length));
    text.remove_prefix(length);
    if (--most == 0) {
      skip_space();
      return to.push_back(text);
    }
  }
}

status run(kernel_context& at) {
  auto most = at.state<int64_t>();
  return split_strings(at, [&](std::string_view text, std::string_view separator, pieces& to) {
    if (separator.empty())
      split_words(text, most, to);
    else
      split_at(text, separator, most, to);
  });
}

} // namespace

extern constexpr kernel_def string_split_v2_cpu{
    .op = "StringSplitV2",
    .run = {{dtype::none, run}},
    .prepare = cache_attr<int64_t, "maxsplit">,
};

} // namespace troupe::ops::string_split_v2_cpu
