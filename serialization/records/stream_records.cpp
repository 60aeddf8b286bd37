#include "troupe/serialization/records/stream_records.hpp"

#include <charconv>

namespace troupe {

std::string stream_records::position() const {
  return concat(position_.byte, ' ', position_.record);
}

status stream_records::begin_record() {
  return stream_.offset() == position_.byte ? status{} : stream_.seek(position_.byte);
}

result<file_place> file_place::parse(const std::string& path, std::string_view position) {
  file_place parsed;
  const auto* stop = position.data() + position.size();
  auto [gap, first] = std::from_chars(position.data(), stop, parsed.byte);
  if (first != std::errc{} || gap == stop || *gap != ' ')
    return invalid(path, ": '", position, "' is not a position in this file");
  auto [end, second] = std::from_chars(gap + 1, stop, parsed.record);
  if (second != std::errc{} || end != stop || parsed.record > parsed.byte)
    return invalid(path, ": '", position, "' is not a position in this file");
  return parsed;
}

status stream_records::seek(std::string_view position) {
  TROUPE_ASSIGN(auto target, file_place::parse(stream_.path(), position));
  TROUPE_TRY(stream_.seek(target.byte));
  position_ = target;
  return {};
}

} // namespace troupe
