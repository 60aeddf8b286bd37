#include "troupe/serialization/records/streams.hpp"

#include <zlib.h>

namespace troupe {
namespace {

constexpr size_t output_buffer_bytes = 256 * 1024;

} // namespace

struct output_stream::state {
  std::unique_ptr<writable_file> file;
  bool compressed = false, finished = false;
  std::string buffer; // not written to the file yet
  uint64_t offset = 0;
  z_stream zlib = {};

  ~state() {
    if (compressed)
      deflateEnd(&zlib);
  }

  status flush() {
    if (buffer.empty())
      return {};
    auto pending = std::exchange(buffer, {});
    TROUPE_TRY(file->append(pending));
    pending.clear();
    buffer = std::move(pending); // keeps the memory
    return {};
  }

  status deflate_all(std::string_view bytes, int flush_mode) {
    zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    zlib.avail_in = static_cast<uInt>(bytes.size());
    char part[16 * 1024];
    do {
      zlib.next_out = reinterpret_cast<Bytef*>(part);
      zlib.avail_out = sizeof part;
      if (deflate(&zlib, flush_mode) == Z_STREAM_ERROR)
        return failure(error_kind::internal, file->path(), ": compression failed");
      buffer.append(part, sizeof part - zlib.avail_out);
      if (buffer.size() >= output_buffer_bytes)
        TROUPE_TRY(flush());
    } while (zlib.avail_out == 0);
    return {};
  }
};

output_stream::output_stream(std::unique_ptr<state> created) : state_(std::move(created)) {}
output_stream::output_stream(output_stream&&) noexcept = default;
output_stream& output_stream::operator=(output_stream&&) noexcept = default;
output_stream::~output_stream() = default;

result<output_stream> output_stream::create(file_system& files, const std::string& path,
                                            compression kind) {
  if (kind == compression::automatic)
    return invalid(path, ": choose none, gzip or zlib for a file that is written");
  auto created = std::make_unique<state>();
  if (kind != compression::none) {
    auto window = kind == compression::gzip ? 15 + 16 : 15;
    if (deflateInit2(&created->zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
      return failure(error_kind::resource_exhausted, path, ": no memory to compress it");
    created->compressed = true;
  }
  TROUPE_ASSIGN(created->file, files.create(path));
  return output_stream{std::move(created)};
}

const std::string& output_stream::path() const noexcept { return state_->file->path(); }
uint64_t output_stream::offset() const noexcept { return state_->offset; }

status output_stream::write(std::string_view bytes) {
  auto& s = *state_;
  if (s.finished)
    return failure(error_kind::failed_precondition, path(), ": the stream is finished");
  s.offset += bytes.size();
  if (s.compressed) {
    while (!bytes.empty()) {
      auto part = bytes.substr(0, size_t{1} << 30); // zlib's counters have 32 bits
      TROUPE_TRY(s.deflate_all(part, Z_NO_FLUSH));
      bytes.remove_prefix(part.size());
    }
    return {};
  }
  if (s.buffer.size() + bytes.size() < output_buffer_bytes) {
    s.buffer += bytes;
    return {};
  }
  TROUPE_TRY(s.flush());
  if (bytes.size() >= output_buffer_bytes)
    return s.file->append(bytes);
  s.buffer += bytes;
  return {};
}

status output_stream::flush() {
  auto& s = *state_;
  if (s.compressed && !s.finished)
    TROUPE_TRY(s.deflate_all({}, Z_SYNC_FLUSH));
  return s.flush();
}

status output_stream::sync() {
  TROUPE_TRY(flush());
  return state_->file->sync();
}

status output_stream::finish() {
  auto& s = *state_;
  if (s.compressed && !s.finished)
    TROUPE_TRY(s.deflate_all({}, Z_FINISH));
  s.finished = true;
  TROUPE_TRY(s.flush());
  return s.file->sync();
}

} // namespace troupe
