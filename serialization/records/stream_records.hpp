// The common base of readers of records: a stream, and the reader's position in it.
#pragma once
#include "troupe/runtime/state/record_reader.hpp"
#include "troupe/serialization/records/streams.hpp"

namespace troupe {

struct file_place {
  uint64_t byte = 0, record = 0;

  /// Parses a result of position(); fails with invalid_argument for other texts.
  static result<file_place> parse(const std::string& path, std::string_view position);
};

class stream_records : public record_reader {
public:
  std::string position() const final;
  status seek(std::string_view position) final;

protected:
  explicit stream_records(input_stream stream)
      : stream_(std::move(stream)), position_{stream_.offset(), 0} {}

  /// Moves the stream to the reader's position, from which an earlier failure may have moved it.
  status begin_record();
  /// Moves the reader's position to the end of the record.
  void end_record() noexcept { position_ = {stream_.offset(), position_.record + 1}; }

  /// Makes an error such as "data.tfrecord: record 17 at byte 2048: ...".
  template <class... Ts>
  status error(error_kind kind, const Ts&... parts) const {
    return failure(kind, stream_.path(), ": record ", position_.record, " at byte ", position_.byte,
                   ": ", parts...);
  }

  input_stream stream_;

private:
  file_place position_;
};

} // namespace troupe
