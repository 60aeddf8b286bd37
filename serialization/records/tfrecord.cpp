#include "troupe/serialization/records/tfrecord.hpp"

#include "troupe/serialization/records/stream_records.hpp"
#include "troupe/serialization/storage/crc32c.hpp"

#include <cstring>

namespace troupe {
namespace {

constexpr uint64_t head_bytes = 12, tail_bytes = 4;

template <class T>
T number_in(std::string_view bytes, size_t offset) {
  T number{};
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

class tfrecord_records final : public stream_records {
public:
  tfrecord_records(input_stream stream, uint64_t max_record_bytes)
      : stream_records(std::move(stream)), max_record_bytes_(max_record_bytes) {}

  result<bool> next(std::string& record) override {
    record.clear();
    TROUPE_TRY(begin_record());
    head_.clear();
    TROUPE_TRY(stream_.read(head_bytes, head_));
    if (head_.empty())
      return false;
    if (head_.size() < head_bytes)
      return cut_off("its head", head_.size(), head_bytes);
    auto length = number_in<uint64_t>(head_, 0);
    if (masked_crc32c(std::as_bytes(std::span{head_}.first(8))) != number_in<uint32_t>(head_, 8))
      return error(error_kind::data_loss,
                   "the checksum of its length is wrong: it is damaged, or is not a record");
    if (length > max_record_bytes_)
      return error(error_kind::resource_exhausted, "it has ", length, " bytes, and at most ",
                   max_record_bytes_, " are allowed");
    auto left = stream_.left();
    if (left && (length > *left || tail_bytes > *left - length))
      return cut_off("its bytes", *left, length + tail_bytes);
    TROUPE_TRY(stream_.read(length, record));
    tail_.clear();
    TROUPE_TRY(stream_.read(tail_bytes, tail_));
    if (tail_.size() < tail_bytes)
      return cut_off("its bytes", record.size() + tail_.size(), length + tail_bytes);
    if (masked_crc32c(std::as_bytes(std::span{record})) != number_in<uint32_t>(tail_, 0)) {
      auto damaged = error(error_kind::data_loss, "the checksum of its ", length,
                           " bytes is wrong: it is damaged");
      end_record();
      return damaged;
    }
    end_record();
    return true;
  }

private:
  status cut_off(std::string_view part, uint64_t present, uint64_t expected) const {
    return error(error_kind::out_of_range, "the file ends within ", part, ", of which it has ",
                 present, " of ", expected, " bytes: it was cut off, or is still being written");
  }

  uint64_t max_record_bytes_;
  std::string head_, tail_;
};

} // namespace

result<std::unique_ptr<record_reader>> open_tfrecord(file_system& files, const std::string& path,
                                                     const tfrecord_options& options) {
  TROUPE_ASSIGN(auto stream, input_stream::open(files, path, options.kind));
  return std::unique_ptr<record_reader>{
      std::make_unique<tfrecord_records>(std::move(stream), options.max_record_bytes)};
}

result<tfrecord_writer> tfrecord_writer::create(file_system& files, const std::string& path,
                                                compression kind) {
  TROUPE_ASSIGN(auto stream, output_stream::create(files, path, kind));
  return tfrecord_writer{std::move(stream)};
}

status tfrecord_writer::add(std::string_view record) {
  char head[head_bytes];
  uint64_t length = record.size();
  std::memcpy(head, &length, sizeof length);
  auto checksum = masked_crc32c(std::as_bytes(std::span{head}.first(sizeof length)));
  std::memcpy(head + sizeof length, &checksum, sizeof checksum);
  TROUPE_TRY(stream_.write({head, sizeof head}));
  TROUPE_TRY(stream_.write(record));
  checksum = masked_crc32c(std::as_bytes(std::span{record}));
  return stream_.write({reinterpret_cast<const char*>(&checksum), sizeof checksum});
}

} // namespace troupe
