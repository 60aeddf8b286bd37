// What readers of records have in common: a stream, and where they stand in it.
#pragma once
#include "troupe/runtime/state/record_reader.hpp"
#include "troupe/serialization/records/streams.hpp"

namespace troupe {

struct file_place {
  uint64_t byte = 0, record = 0;

  /// From what position() has said; fails with invalid_argument for other texts.
  static result<file_place> parse(const std::string& path, std::string_view position);
};

class stream_records : public record_reader {
public:
  std::string position() const final;
  status seek(std::string_view position) final;

protected:
  explicit stream_records(input_stream from) : stream_(std::move(from)), at_{stream_.offset(), 0} {}

  /// Brings the stream to where the reader stands; a failure may have left it elsewhere.
  status begin_record();
  /// The reader stands behind the record.
  void end_record() noexcept { at_ = {stream_.offset(), at_.record + 1}; }

  /// An error: "data.tfrecord: record 17 at byte 2048: ...".
  template <class... Ts>
  status error(error_kind kind, const Ts&... parts) const {
    return failure(kind, stream_.path(), ": record ", at_.record, " at byte ", at_.byte, ": ",
                   parts...);
  }

  input_stream stream_;

private:
  file_place at_;
};

} // namespace troupe
