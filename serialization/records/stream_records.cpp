#include "troupe/serialization/records/stream_records.hpp"

#include <charconv>

namespace troupe {

std::string stream_records::position() const { return concat(at_.byte, ' ', at_.record); }

status stream_records::begin_record() {
  return stream_.offset() == at_.byte ? status{} : stream_.seek(at_.byte);
}

result<file_place> file_place::parse(const std::string& path, std::string_view position) {
  file_place to;
  const auto* stop = position.data() + position.size();
  auto [gap, first] = std::from_chars(position.data(), stop, to.byte);
  if (first != std::errc{} || gap == stop || *gap != ' ')
    return invalid(path, ": '", position, "' is no position in it");
  auto [end, second] = std::from_chars(gap + 1, stop, to.record);
  if (second != std::errc{} || end != stop || to.record > to.byte)
    return invalid(path, ": '", position, "' is no position in it");
  return to;
}

status stream_records::seek(std::string_view position) {
  TROUPE_ASSIGN(auto to, file_place::parse(stream_.path(), position));
  TROUPE_TRY(stream_.seek(to.byte));
  at_ = to;
  return {};
}

} // namespace troupe
