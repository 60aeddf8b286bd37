#include "troupe/serialization/tensor_bundle/slice_spec.hpp"

#include <charconv>

namespace troupe {
namespace {

bool read_number(std::string_view text, int64_t& to) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  return error == std::errc{} && end == text.data() + text.size() && to >= 0;
}

// Removes the text before the separator, and the separator, from the front; returns the text.
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
  auto invalid_slice = [&](std::string_view reason) {
    return invalid("'", text, "' is no slice: ", reason,
                   "; '4 5 0,2:-' is one, rows 0 and 1 of a tensor of shape [4,5]");
  };
  auto last = text.rfind(' ');
  if (last == text.npos)
    return invalid_slice("the shape of the whole tensor must precede it");
  std::vector<int64_t> extents;
  for (auto unread = text.substr(0, last); !unread.empty();) {
    extents.emplace_back();
    if (!read_number(take(unread, ' '), extents.back()))
      return invalid_slice("its shape must be numbers");
  }
  slice_spec spec;
  auto full_shape = shape::make(extents);
  if (!full_shape)
    return invalid_slice(full_shape.status().message());
  spec.full_shape = *full_shape;
  size_t axis = 0;
  for (auto unread = text.substr(last + 1); !unread.empty(); ++axis) {
    auto part = take(unread, ':');
    if (axis >= extents.size())
      return invalid_slice("it has more axes than the shape");
    int64_t start = 0, length = extents[axis];
    if (part != "-") {
      auto first = take(part, ',');
      if (!read_number(first, start) || !read_number(part, length))
        return invalid_slice("each axis is '-' or START,LENGTH");
    }
    if (start > extents[axis] || length > extents[axis] - start)
      return invalid_slice("it does not lie within the whole");
    spec.slice.offset.push_back(start);
    spec.slice.dims.push_back(length);
  }
  if (axis != extents.size())
    return invalid_slice("it has fewer axes than the shape");
  return std::optional{std::move(spec)};
}

} // namespace troupe
