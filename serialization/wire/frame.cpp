#include "troupe/serialization/wire/frame.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#ifdef TROUPE_XXHASH_DISPATCH
// Declared here: the library's header would redefine the functions above.
extern "C" XXH64_hash_t XXH3_64bits_dispatch(const void* bytes, size_t size);
#endif

namespace troupe {
namespace {

using header_bytes = std::array<std::byte, frame_header_bytes>;

constexpr size_t kind_at = 4, flags_at = 5, reserved_at = 6, size_at = 8, check_at = 12,
                 transfer_at = 16, checksum_at = 24;

// The buffer for messages that a reader keeps between messages.
constexpr size_t kept_buffer_bytes = 64 * 1024;

template <class T>
void put(header_bytes& to, size_t offset, T value) {
  std::memcpy(to.data() + offset, &value, sizeof value);
}

template <class T>
T get(const header_bytes& from, size_t offset) {
  T value;
  std::memcpy(&value, from.data() + offset, sizeof value);
  return value;
}

uint32_t check_of(header_bytes header) {
  put(header, check_at, uint32_t{0});
  return static_cast<uint32_t>(checksum_of(header));
}

// Quotes the first bytes of an unknown peer, in printable form.
std::string quoted(std::span<const std::byte> bytes) {
  std::string text;
  for (auto byte : bytes.first(std::min<size_t>(bytes.size(), 16))) {
    auto c = static_cast<char>(byte);
    text += c >= ' ' && c <= '~' ? c : '.';
  }
  return text + (bytes.size() > 16 ? "…" : "");
}

} // namespace

uint64_t checksum_of(std::span<const std::byte> bytes) noexcept {
#ifdef TROUPE_XXHASH_DISPATCH
  // The code inlined here uses SSE2 only, which is half as fast.
  if (bytes.size() > 1024)
    return XXH3_64bits_dispatch(bytes.data(), bytes.size());
#endif
  return XXH3_64bits(bytes.data(), bytes.size());
}

header_bytes write_header(const frame_header& header) noexcept {
  header_bytes bytes{};
  put(bytes, 0, frame_magic);
  put(bytes, kind_at, header.kind);
  put(bytes, size_at, header.size);
  put(bytes, transfer_at, header.transfer);
  put(bytes, checksum_at, header.checksum);
  put(bytes, check_at, check_of(bytes));
  return bytes;
}

header_bytes header_for(frame_kind kind, uint64_t transfer,
                        std::span<const std::byte> body) noexcept {
  return write_header({kind, static_cast<uint32_t>(body.size()), transfer, checksum_of(body)});
}

status frame_reader::feed(std::span<const std::byte> bytes, frame_sink& sink) {
  while (failed_.ok() && !bytes.empty()) {
    if (!in_body_) {
      auto count = std::min(bytes.size(), frame_header_bytes - have_);
      std::memcpy(header_bytes_.data() + have_, bytes.data(), count);
      have_ += count;
      bytes = bytes.subspan(count);
      failed_ = take_header(bytes, sink);
      if (failed_.ok() && in_body_ && header_.kind == frame_kind::message &&
          bytes.size() >= header_.size) {
        // The body is complete in `bytes`, and need not be copied.
        auto body = bytes.first(header_.size);
        bytes = bytes.subspan(header_.size);
        in_body_ = false;
        have_ = 0;
        failed_ = check_body(body);
        if (failed_.ok())
          failed_ = sink.on_message(body, header_.transfer);
      }
    } else {
      auto count = std::min<size_t>(bytes.size(), header_.size - have_);
      std::memcpy(receive_space().data(), bytes.data(), count);
      have_ += count;
      bytes = bytes.subspan(count);
    }
    if (failed_.ok() && in_body_ && have_ == header_.size)
      failed_ = finish_body(sink);
  }
  return failed_;
}

std::span<std::byte> frame_reader::receive_space() const noexcept {
  if (!in_body_ || !failed_.ok())
    return {};
  auto* begin = header_.kind == frame_kind::message ? message_.get() : target_;
  return {begin + have_, header_.size - have_};
}

status frame_reader::commit(size_t bytes, frame_sink& sink) {
  TROUPE_TRY(status{failed_});
  have_ += bytes;
  if (in_body_ && have_ == header_.size)
    failed_ = finish_body(sink);
  return failed_;
}

status frame_reader::take_header(std::span<const std::byte> following, frame_sink& sink) {
  header_bytes magic{};
  put(magic, 0, frame_magic);
  if (std::memcmp(header_bytes_.data(), magic.data(), std::min<size_t>(have_, 4)) != 0) {
    if (!first_)
      return failure(error_kind::data_loss, "a frame does not begin with the magic number");
    std::vector<std::byte> received(header_bytes_.begin(),
                                    header_bytes_.begin() + static_cast<std::ptrdiff_t>(have_));
    received.insert(received.end(), following.begin(), following.end());
    return invalid("the peer does not speak Troupe's protocol: got '", quoted(received), "'");
  }
  if (have_ < frame_header_bytes)
    return {};
  if (get<uint32_t>(header_bytes_, check_at) != check_of(header_bytes_))
    return failure(error_kind::data_loss, "a frame's header is damaged");
  header_ = {get<frame_kind>(header_bytes_, kind_at), get<uint32_t>(header_bytes_, size_at),
             get<uint64_t>(header_bytes_, transfer_at), get<uint64_t>(header_bytes_, checksum_at)};
  if (get<uint8_t>(header_bytes_, flags_at) != 0 || get<uint16_t>(header_bytes_, reserved_at) != 0)
    return invalid("a frame has flags of an unknown version");
  switch (header_.kind) {
    case frame_kind::message:
      if (header_.size > max_message_)
        return failure(error_kind::resource_exhausted, "a message of ", header_.size,
                       " bytes is announced, the longest allowed has ", max_message_);
      if (following.size() < header_.size && header_.size > message_room_) {
        message_ = std::make_unique_for_overwrite<std::byte[]>(header_.size);
        message_room_ = header_.size;
      }
      break;
    case frame_kind::chunk: {
      if (header_.size > chunk_bytes)
        return failure(error_kind::resource_exhausted, "a chunk of ", header_.size,
                       " bytes is announced, the longest allowed has ", chunk_bytes);
      TROUPE_ASSIGN(target_, sink.chunk_target(header_.transfer, header_.size));
      break;
    }
    default: return invalid("a frame is of unknown kind ", static_cast<int>(header_.kind));
  }
  first_ = false;
  in_body_ = true;
  have_ = 0;
  return {};
}

// The whole body is hashed at once, in place: it was just written and is in the cache.
status frame_reader::check_body(std::span<const std::byte> body) const {
  if (checksum_of(body) == header_.checksum)
    return {};
  return failure(error_kind::data_loss, "a frame of ", header_.size, " bytes is damaged");
}

status frame_reader::finish_body(frame_sink& sink) {
  in_body_ = false;
  have_ = 0;
  if (header_.kind == frame_kind::chunk) {
    TROUPE_TRY(check_body({target_, header_.size}));
    target_ = nullptr;
    return sink.on_chunk(header_.transfer, header_.size);
  }
  std::span<const std::byte> body{message_.get(), header_.size};
  TROUPE_TRY(check_body(body));
  TROUPE_TRY(sink.on_message(body, header_.transfer));
  if (message_room_ > kept_buffer_bytes) {
    message_ = nullptr;
    message_room_ = 0;
  }
  return {};
}

} // namespace troupe
