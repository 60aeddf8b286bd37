#include "troupe/serialization/records/streams.hpp"

#include <zlib.h>

#include <algorithm>

namespace troupe {
namespace {

constexpr size_t input_part = 256 * 1024;

// What zlib is told: the largest window, and which of its two headers to expect.
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
  std::vector<char> buffer = std::vector<char>(input_part); // what comes out
  size_t begin = 0, end = 0;                                // of what is in it
  uint64_t offset = 0;                                      // of its begin

  std::vector<char> compressed;
  uint64_t taken = 0; // of the file
  z_stream zlib = {};
  bool inflating = false, ended = false;

  ~state() { stop(); }

  void stop() {
    if (std::exchange(inflating, false))
      inflateEnd(&zlib);
  }

  status start(uint64_t at) {
    begin = end = 0;
    offset = taken = at;
    ended = false;
    if (kind == compression::none)
      return {};
    stop();
    zlib = {};
    if (inflateInit2(&zlib, window_of(kind)) != Z_OK)
      return failure(error_kind::resource_exhausted, file->path(), ": no memory to decompress it");
    inflating = true;
    return {};
  }

  status fill() {
    begin = end = 0;
    if (kind == compression::none) {
      auto size = static_cast<size_t>(std::min<uint64_t>(buffer.size(), file->size() - taken));
      TROUPE_TRY(file->read(taken, std::as_writable_bytes(std::span{buffer}.first(size))));
      taken += size;
      end = size;
      return {};
    }
    while (end == 0 && !ended) {
      auto more = inflate_more();
      if (!more) {
        end = 0; // the same error again, not what came before it
        return more;
      }
    }
    return {};
  }

  status inflate_more() {
    if (zlib.avail_in == 0 && taken < file->size()) {
      compressed.resize(input_part);
      auto size = std::min<uint64_t>(input_part, file->size() - taken);
      TROUPE_TRY(file->read(taken, std::as_writable_bytes(std::span{compressed}.first(size))));
      taken += size;
      zlib.next_in = reinterpret_cast<Bytef*>(compressed.data());
      zlib.avail_in = static_cast<uInt>(size);
    }
    zlib.next_out = reinterpret_cast<Bytef*>(buffer.data());
    zlib.avail_out = static_cast<uInt>(buffer.size());
    auto code = inflate(&zlib, Z_NO_FLUSH);
    end = buffer.size() - zlib.avail_out;
    if (code == Z_STREAM_END) {
      // Files of gzip may follow each other.
      ended = zlib.avail_in == 0 && taken == file->size();
      if (!ended && (kind != compression::gzip || inflateReset(&zlib) != Z_OK))
        return failure(error_kind::data_loss, file->path(), ": ", left_over(),
                       " bytes follow what is compressed");
      return {};
    }
    if (code == Z_OK)
      return {};
    if (code == Z_BUF_ERROR && taken == file->size())
      return failure(error_kind::out_of_range, file->path(),
                     ": ends within what is compressed: it was cut off, or is still being written");
    if (code == Z_MEM_ERROR)
      return failure(error_kind::resource_exhausted, file->path(), ": no memory to decompress it");
    return failure(error_kind::data_loss, file->path(), ": what is compressed is damaged at byte ",
                   taken - zlib.avail_in, ": ", zlib.msg ? zlib.msg : "a dictionary is needed");
  }

  uint64_t left_over() const { return zlib.avail_in + file->size() - taken; }
};

input_stream::input_stream(std::unique_ptr<state> made) : state_(std::move(made)) {}
input_stream::input_stream(input_stream&&) noexcept = default;
input_stream::~input_stream() = default;

result<input_stream> input_stream::open(file_system& files, const std::string& path,
                                        compression kind) {
  auto made = std::make_unique<state>();
  TROUPE_ASSIGN(made->file, files.open(path));
  if (kind == compression::automatic) {
    char first[2] = {};
    if (made->file->size() >= sizeof first)
      TROUPE_TRY(made->file->read(0, std::as_writable_bytes(std::span{first})));
    kind = first[0] == '\x1f' && first[1] == '\x8b' ? compression::gzip : compression::none;
  }
  made->kind = kind;
  TROUPE_TRY(made->start(0));
  return input_stream{std::move(made)};
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

status input_stream::read(uint64_t bytes, std::string& to) {
  while (bytes > 0) {
    TROUPE_ASSIGN(auto part, ahead());
    if (part.empty())
      return {};
    part = part.substr(0, static_cast<size_t>(std::min<uint64_t>(bytes, part.size())));
    to.append(part);
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
