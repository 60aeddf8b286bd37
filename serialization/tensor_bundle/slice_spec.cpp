#include "troupe/serialization/tensor_bundle/slice_spec.hpp"

#include <charconv>

namespace troupe {
namespace {

bool read_number(std::string_view text, int64_t& to) {
  auto [stop, why] = std::from_chars(text.data(), text.data() + text.size(), to);
  return why == std::errc{} && stop == text.data() + text.size() && to >= 0;
}

// Takes what stands before the separator.
std::string_view take(std::string_view& from, char separator) {
  auto end = std::min(from.find(separator), from.size());
  auto part = from.substr(0, end);
  from.remove_prefix(std::min(end + 1, from.size()));
  return part;
}

} // namespace

result<std::optional<slice_spec>> slice_spec::parse(std::string_view text) {
  if (text.empty())
    return std::optional<slice_spec>{};
  auto wrong = [&](std::string_view why) {
    return invalid("'", text, "' is no slice: ", why,
                   "; '4 5 0,2:-' is one, rows 0 and 1 of a tensor of shape [4,5]");
  };
  auto last = text.rfind(' ');
  if (last == text.npos)
    return wrong("the shape of the whole tensor must stand before it");
  std::vector<int64_t> extents;
  for (auto rest = text.substr(0, last); !rest.empty();) {
    extents.emplace_back();
    if (!read_number(take(rest, ' '), extents.back()))
      return wrong("its shape must be numbers");
  }
  slice_spec made;
  auto whole = shape::make(extents);
  if (!whole)
    return wrong(whole.status().message());
  made.whole = *whole;
  size_t axis = 0;
  for (auto rest = text.substr(last + 1); !rest.empty(); ++axis) {
    auto part = take(rest, ':');
    if (axis >= extents.size())
      return wrong("it has more axes than the shape");
    int64_t start = 0, length = extents[axis];
    if (part != "-") {
      auto first = take(part, ',');
      if (!read_number(first, start) || !read_number(part, length))
        return wrong("each axis is '-' or START,LENGTH");
    }
    if (start > extents[axis] || length > extents[axis] - start)
      return wrong("it does not lie within the whole");
    made.slice.offset.push_back(start);
    made.slice.dims.push_back(length);
  }
  if (axis != extents.size())
    return wrong("it has fewer axes than the shape");
  return std::optional{std::move(made)};
}

} // namespace troupe
