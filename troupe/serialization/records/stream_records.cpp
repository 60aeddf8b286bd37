#include "troupe/serialization/records/stream_records.hpp"

#include <charconv>

namespace troupe {

std::string stream_records::position() const { return concat(at_.byte, ' ', at_.record); }

status stream_records::begin_record() {
  return stream_.offset() == at_.byte ? status{} : stream_.seek(at_.byte);
}

status stream_records::seek(std::string_view position) {
  place to;
  const auto* stop = position.data() + position.size();
  auto [gap, first] = std::from_chars(position.data(), stop, to.byte);
  if (first != std::errc{} || gap == stop || *gap != ' ')
    return invalid(stream_.path(), ": '", position, "' is no position in it");
  auto [end, second] = std::from_chars(gap + 1, stop, to.record);
  if (second != std::errc{} || end != stop || to.record > to.byte)
    return invalid(stream_.path(), ": '", position, "' is no position in it");
  TROUPE_TRY(stream_.seek(to.byte));
  at_ = to;
  return {};
}

} // namespace troupe
