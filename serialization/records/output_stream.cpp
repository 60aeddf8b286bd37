#include "troupe/serialization/records/streams.hpp"

#include <zlib.h>

namespace troupe {
namespace {

constexpr size_t output_part = 256 * 1024;

} // namespace

struct output_stream::state {
  std::unique_ptr<writable_file> file;
  bool compressed = false, finished = false;
  std::string buffer; // what goes to the file
  uint64_t offset = 0;
  z_stream zlib = {};

  ~state() {
    if (compressed)
      deflateEnd(&zlib);
  }

  status flush() {
    if (buffer.empty())
      return {};
    auto all = std::exchange(buffer, {});
    TROUPE_TRY(file->append(all));
    all.clear();
    buffer = std::move(all); // its memory
    return {};
  }

  status deflate_all(std::string_view bytes, int how) {
    zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    zlib.avail_in = static_cast<uInt>(bytes.size());
    char part[16 * 1024];
    do {
      zlib.next_out = reinterpret_cast<Bytef*>(part);
      zlib.avail_out = sizeof part;
      if (deflate(&zlib, how) == Z_STREAM_ERROR)
        return failure(error_kind::internal, file->path(), ": cannot be compressed any more");
      buffer.append(part, sizeof part - zlib.avail_out);
      if (buffer.size() >= output_part)
        TROUPE_TRY(flush());
    } while (zlib.avail_out == 0);
    return {};
  }
};

output_stream::output_stream(std::unique_ptr<state> made) : state_(std::move(made)) {}
output_stream::output_stream(output_stream&&) noexcept = default;
output_stream& output_stream::operator=(output_stream&&) noexcept = default;
output_stream::~output_stream() = default;

result<output_stream> output_stream::create(file_system& files, const std::string& path,
                                            compression kind) {
  if (kind == compression::automatic)
    return invalid(path, ": choose none, gzip or zlib for a file that is written");
  auto made = std::make_unique<state>();
  if (kind != compression::none) {
    auto window = kind == compression::gzip ? 15 + 16 : 15;
    if (deflateInit2(&made->zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
      return failure(error_kind::resource_exhausted, path, ": no memory to compress it");
    made->compressed = true;
  }
  TROUPE_ASSIGN(made->file, files.create(path));
  return output_stream{std::move(made)};
}

const std::string& output_stream::path() const noexcept { return state_->file->path(); }
uint64_t output_stream::offset() const noexcept { return state_->offset; }

status output_stream::write(std::string_view bytes) {
  auto& s = *state_;
  if (s.finished)
    return failure(error_kind::failed_precondition, path(), ": is finished");
  s.offset += bytes.size();
  if (s.compressed) {
    while (!bytes.empty()) {
      auto part = bytes.substr(0, size_t{1} << 30); // zlib counts with 32 bits
      TROUPE_TRY(s.deflate_all(part, Z_NO_FLUSH));
      bytes.remove_prefix(part.size());
    }
    return {};
  }
  if (s.buffer.size() + bytes.size() < output_part) {
    s.buffer += bytes;
    return {};
  }
  TROUPE_TRY(s.flush());
  if (bytes.size() >= output_part)
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
