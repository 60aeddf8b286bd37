#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/text.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <algorithm>
#include <vector>

namespace troupe::ops::string_split_cpu {
namespace {

using pieces = std::vector<std::string_view>;

// Splits each string of input 0 by input 1: `split(text, delimiter, pieces)` appends.
template <class Split>
status split_strings(kernel_context& at, Split&& split) {
  const auto &input = at.input(0), &delimiter = at.input(1);
  if (input.rank() != 1 || delimiter.rank() != 0)
    return invalid("input must be a vector and the delimiter a scalar, got shapes ", input.dims(),
                   " and ", delimiter.dims());
  pieces split_pieces;
  std::vector<size_t> ends;
  for (const auto& text : input.values<std::string>()) {
    if (ends.size() % 1024 == 1023 && at.stopped())
      return {};
    split(std::string_view{text}, std::string_view{*delimiter.data<std::string>()}, split_pieces);
    ends.push_back(split_pieces.size());
  }
  auto count = static_cast<int64_t>(split_pieces.size());
  TROUPE_ASSIGN(auto* indices, at.allocate(0, shape{count, 2}));
  TROUPE_ASSIGN(auto* values, at.allocate(1, shape{count}));
  TROUPE_ASSIGN(auto* dims, at.allocate(2, shape{2}));
  std::ranges::copy(split_pieces, values->template data<std::string>());
  auto* to = indices->template data<int64_t>();
  size_t next = 0, widest = 0;
  for (size_t row = 0; row < ends.size(); ++row) {
    widest = std::max(widest, ends[row] - next);
    for (size_t first = next; next < ends[row]; ++next) {
      *to++ = static_cast<int64_t>(row);
      *to++ = static_cast<int64_t>(next - first);
    }
  }
  dims->template data<int64_t>()[0] = input.elements();
  dims->template data<int64_t>()[1] = static_cast<int64_t>(widest);
  return {};
}

status run_string_split(kernel_context& at) {
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

void split_at(std::string_view text, std::string_view separator, int64_t max_splits, pieces& to) {
  for (int64_t split_count = 0; split_count != max_splits;
       ++split_count) { // a negative maximum: no limit
    auto end = text.find(separator);
    if (end == text.npos)
      break;
    to.push_back(text.substr(0, end));
    text.remove_prefix(end + separator.size());
  }
  to.push_back(text);
}

void split_words(std::string_view text, int64_t max_splits, pieces& to) {
  auto skip_space = [&] {
    text.remove_prefix(
        static_cast<size_t>(std::ranges::find_if_not(text, is_space) - text.begin()));
  };
  if (max_splits == 0)
    return to.push_back(text);
  for (skip_space(); !text.empty(); skip_space()) {
    auto length = static_cast<size_t>(std::ranges::find_if(text, is_space) - text.begin());
    to.push_back(text.substr(0, length));
    text.remove_prefix(length);
    if (--max_splits == 0) {
      skip_space();
      return to.push_back(text);
    }
  }
}

status run_string_split_v2(kernel_context& at) {
  auto max_splits = at.state<int64_t>();
  return split_strings(at, [&](std::string_view text, std::string_view separator, pieces& to) {
    if (separator.empty())
      split_words(text, max_splits, to);
    else
      split_at(text, separator, max_splits, to);
  });
}

} // namespace

extern constexpr kernel_def string_split_cpu{
    .op = "StringSplit",
    .run = {{dtype::none, run_string_split}},
    .prepare = cache_attr<bool, "skip_empty">,
};

extern constexpr kernel_def string_split_v2_cpu{
    .op = "StringSplitV2",
    .run = {{dtype::none, run_string_split_v2}},
    .prepare = cache_attr<int64_t, "maxsplit">,
};

} // namespace troupe::ops::string_split_cpu
