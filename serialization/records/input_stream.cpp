#include "troupe/serialization/records/streams.hpp"

#include <zlib.h>

#include <algorithm>

namespace troupe {
namespace {

constexpr size_t input_buffer_bytes = 256 * 1024;

// The windowBits argument of zlib: the largest window, and which of the two headers to expect.
constexpr int window_of(compression kind) { return kind == compression::gzip ? 15 + 16 : 15; }

} // namespace

std::optional<compression> compression_from(std::string_view name) noexcept {
  if (name == "none")
    return compression::none;
  if (name == "gzip")
    return compression::gzip;
  if (name == "zlib")
    return compression::zlib;
  if (name == "automatic")
    return compression::automatic;
  return {};
}

struct input_stream::state {
  std::unique_ptr<readable_file> file;
  compression kind = compression::none;
  std::vector<char> buffer = std::vector<char>(input_buffer_bytes); // uncompressed
  size_t begin = 0, end = 0;                                        // of the unread bytes in it
  uint64_t offset = 0; // of `begin` in the uncompressed stream

  std::vector<char> compressed;
  uint64_t consumed = 0; // bytes of the file
  z_stream zlib = {};
  bool is_inflating = false, ended = false;

  ~state() { stop(); }

  void stop() {
    if (std::exchange(is_inflating, false))
      inflateEnd(&zlib);
  }

  status start(uint64_t file_offset) {
    begin = end = 0;
    offset = consumed = file_offset;
    ended = false;
    if (kind == compression::none)
      return {};
    stop();
    zlib = {};
    if (inflateInit2(&zlib, window_of(kind)) != Z_OK)
      return failure(error_kind::resource_exhausted, file->path(), ": no memory to decompress it");
    is_inflating = true;
    return {};
  }

  status fill() {
    begin = end = 0;
    if (kind == compression::none) {
      auto size = static_cast<size_t>(std::min<uint64_t>(buffer.size(), file->size() - consumed));
      TROUPE_TRY(file->read(consumed, std::as_writable_bytes(std::span{buffer}.first(size))));
      consumed += size;
      end = size;
      return {};
    }
    while (end == 0 && !ended) {
      auto outcome = inflate_more();
      if (!outcome) {
        end = 0; // so that the next call fails with the same error
        return outcome;
      }
    }
    return {};
  }

  status inflate_more() {
    if (zlib.avail_in == 0 && consumed < file->size()) {
      compressed.resize(input_buffer_bytes);
      auto size = std::min<uint64_t>(input_buffer_bytes, file->size() - consumed);
      TROUPE_TRY(file->read(consumed, std::as_writable_bytes(std::span{compressed}.first(size))));
      consumed += size;
      zlib.next_in = reinterpret_cast<Bytef*>(compressed.data());
      zlib.avail_in = static_cast<uInt>(size);
    }
    zlib.next_out = reinterpret_cast<Bytef*>(buffer.data());
    zlib.avail_out = static_cast<uInt>(buffer.size());
    auto code = inflate(&zlib, Z_NO_FLUSH);
    end = buffer.size() - zlib.avail_out;
    if (code == Z_STREAM_END) {
      // Gzip files may be concatenated.
      ended = zlib.avail_in == 0 && consumed == file->size();
      if (!ended && (kind != compression::gzip || inflateReset(&zlib) != Z_OK))
        return failure(error_kind::data_loss, file->path(), ": ", left_over(),
                       " bytes follow the compressed data");
      return {};
    }
    if (code == Z_OK)
      return {};
    if (code == Z_BUF_ERROR && consumed == file->size())
      return failure(error_kind::out_of_range, file->path(),
                     ": the compressed data ends early: the file was cut off, or is still being "
                     "written");
    if (code == Z_MEM_ERROR)
      return failure(error_kind::resource_exhausted, file->path(), ": no memory to decompress it");
    return failure(error_kind::data_loss, file->path(), ": the compressed data is damaged at byte ",
                   consumed - zlib.avail_in, ": ", zlib.msg ? zlib.msg : "a dictionary is needed");
  }

  uint64_t left_over() const { return zlib.avail_in + file->size() - consumed; }
};

input_stream::input_stream(std::unique_ptr<state> opened) : state_(std::move(opened)) {}
input_stream::input_stream(input_stream&&) noexcept = default;
input_stream::~input_stream() = default;

result<input_stream> input_stream::open(file_system& files, const std::string& path,
                                        compression kind) {
  auto opened = std::make_unique<state>();
  TROUPE_ASSIGN(opened->file, files.open(path));
  if (kind == compression::automatic) {
    char magic[2] = {};
    if (opened->file->size() >= sizeof magic)
      TROUPE_TRY(opened->file->read(0, std::as_writable_bytes(std::span{magic})));
    kind = magic[0] == '\x1f' && magic[1] == '\x8b' ? compression::gzip : compression::none;
  }
  opened->kind = kind;
  TROUPE_TRY(opened->start(0));
  return input_stream{std::move(opened)};
}

const std::string& input_stream::path() const noexcept { return state_->file->path(); }
uint64_t input_stream::offset() const noexcept { return state_->offset; }

std::optional<uint64_t> input_stream::left() const noexcept {
  if (state_->kind != compression::none)
    return {};
  return state_->file->size() - state_->offset;
}

result<std::string_view> input_stream::ahead() {
  auto& s = *state_;
  if (s.begin == s.end)
    TROUPE_TRY(s.fill());
  return std::string_view{s.buffer.data() + s.begin, s.end - s.begin};
}

void input_stream::skip(size_t bytes) noexcept {
  state_->begin += bytes;
  state_->offset += bytes;
}

status input_stream::read(uint64_t bytes, std::string& target) {
  while (bytes > 0) {
    TROUPE_ASSIGN(auto part, ahead());
    if (part.empty())
      return {};
    part = part.substr(0, static_cast<size_t>(std::min<uint64_t>(bytes, part.size())));
    target.append(part);
    skip(part.size());
    bytes -= part.size();
  }
  return {};
}

status input_stream::seek(uint64_t offset) {
  auto& s = *state_;
  auto behind_end = [&] {
    return failure(error_kind::out_of_range, path(), ": ends before byte ", offset);
  };
  if (s.kind == compression::none) {
    if (offset > s.file->size())
      return behind_end();
    if (offset >= s.offset && offset - s.offset <= s.end - s.begin) {
      skip(static_cast<size_t>(offset - s.offset));
      return {};
    }
    return s.start(offset);
  }
  if (offset < s.offset)
    TROUPE_TRY(s.start(0));
  while (s.offset < offset) {
    TROUPE_ASSIGN(auto part, ahead());
    if (part.empty())
      return behind_end();
    skip(static_cast<size_t>(std::min<uint64_t>(part.size(), offset - s.offset)));
  }
  return {};
}

} // namespace troupe
