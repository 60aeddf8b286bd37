#include "troupe/serialization/records/text_records.hpp"

#include "troupe/serialization/records/stream_records.hpp"

#include <cstring>

namespace troupe {
namespace {

class text_records final : public stream_records {
public:
  text_records(input_stream stream, const text_options& options, bool quotes)
      : stream_records(std::move(stream)), max_record_bytes_(options.max_record_bytes),
        quotes_(quotes) {}

  result<bool> next(std::string& record) override {
    record.clear();
    TROUPE_TRY(begin_record());
    bool quoted = false;
    for (;;) {
      TROUPE_ASSIGN(auto ahead, stream_.ahead());
      if (ahead.empty() && quoted)
        return error(error_kind::data_loss, "the file ends within quotes");
      if (ahead.empty() && record.empty())
        return false;
      auto end = end_in(ahead, quoted);
      if (end > max_record_bytes_ - record.size())
        return error(error_kind::resource_exhausted, "it has more than ", max_record_bytes_,
                     " bytes, the limit");
      record.append(ahead.substr(0, end));
      stream_.skip(end < ahead.size() ? end + 1 : end);
      if (end == ahead.size() && !ahead.empty())
        continue;
      if (!ahead.empty() && record.ends_with('\r'))
        record.pop_back();
      end_record();
      return true;
    }
  }

private:
  // Returns the offset of the line's end, or the size if the line continues.
  size_t end_in(std::string_view text, bool& quoted) const {
    if (!quotes_) {
      const auto* end = static_cast<const char*>(std::memchr(text.data(), '\n', text.size()));
      return end ? static_cast<size_t>(end - text.data()) : text.size();
    }
    for (size_t offset = 0; offset < text.size(); ++offset)
      if (text[offset] == '"')
        quoted = !quoted;
      else if (text[offset] == '\n' && !quoted)
        return offset;
    return text.size();
  }

  uint64_t max_record_bytes_;
  bool quotes_;
};

result<std::unique_ptr<record_reader>> open_text(file_system& files, const std::string& path,
                                                 const text_options& options, bool quotes) {
  TROUPE_ASSIGN(auto stream, input_stream::open(files, path, options.kind));
  auto reader = std::make_unique<text_records>(std::move(stream), options, quotes);
  std::string skipped;
  for (uint64_t i = 0; i < options.skip; ++i) {
    TROUPE_ASSIGN(auto has_record, reader->next(skipped));
    if (!has_record)
      break;
  }
  return std::unique_ptr<record_reader>{std::move(reader)};
}

} // namespace

result<std::unique_ptr<record_reader>> open_lines(file_system& files, const std::string& path,
                                                  const text_options& options) {
  return open_text(files, path, options, false);
}

result<std::unique_ptr<record_reader>> open_csv(file_system& files, const std::string& path,
                                                const text_options& options) {
  return open_text(files, path, options, true);
}

} // namespace troupe
