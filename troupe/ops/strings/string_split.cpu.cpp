#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/strings/shared/splitting.cpu.hpp"

namespace troupe::ops::string_split_cpu {
namespace {

status run(kernel_context& at) {
  auto skip_empty = at.state<bool>();
  return split_strings(at, [&](std::string_view text, std::string_view delimiters, pieces& to) {
    if (text.empty())
      return;
    if (delimiters.empty()) {
      for (size_t i = 0; i < text.size(); ++i)
        to.push_back(text.substr(i, 1));
      return;
    }
    for (size_t end = 0; end != text.npos;) {
      end = text.find_first_of(delimiters);
      if (auto piece = text.substr(0, end); !piece.empty() || !skip_empty)
        to.push_back(piece);
      if (end != text.npos)
        text.remove_prefix(end + 1);
    }
  });
}

} // namespace

extern constexpr kernel_def string_split_cpu{
    .op = "StringSplit",
    .run = {{dtype::none, run}},
    .prepare = cache_attr<bool, "skip_empty">,
};

} // namespace troupe::ops::string_split_cpu
