#include "troupe/serialization/arrays/zip.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <set>

namespace troupe {
namespace {

constexpr uint32_t local_magic = 0x04034b50, entry_magic = 0x02014b50, end_magic = 0x06054b50,
                   wide_end_magic = 0x06064b50, wide_place_magic = 0x07064b50;
constexpr size_t local_bytes = 30, entry_bytes = 46, end_bytes = 22, wide_end_bytes = 56,
                 wide_place_bytes = 20;
constexpr uint16_t wide_id = 1; // of the extra field with 64-bit sizes
constexpr uint16_t stored_method = 0, deflate_method = 8;
constexpr uint16_t encrypted_flag = 1, utf8_flag = 0x800;
constexpr uint64_t max_directory_bytes = uint64_t{1} << 28;
constexpr uint64_t max_inflation = 1032; // the most bytes that deflate encodes in one byte
constexpr uint32_t wide = 0xffffffff;    // marks a number that is stored elsewhere, with 64 bits
constexpr uint16_t wide_count = 0xffff;

template <class T>
T number_of(std::string_view bytes, size_t position) {
  T number{};
  std::memcpy(&number, bytes.data() + position, sizeof number);
  return number;
}

template <class... Ts>
void append_numbers(std::string& to, Ts... numbers) {
  (to.append(reinterpret_cast<const char*>(&numbers), sizeof numbers), ...);
}

// The place of the directory.
struct directory {
  uint64_t offset = 0, bytes = 0, count = 0;
};

result<std::string> read_part(const readable_file& file, uint64_t offset, uint64_t bytes) {
  std::string part(bytes, '\0');
  TROUPE_TRY(file.read(offset, std::as_writable_bytes(std::span{part})));
  return part;
}

result<directory> find_directory(const readable_file& file) {
  // The end record has a comment of any length.
  auto tail_bytes = std::min<uint64_t>(file.size(), end_bytes + UINT16_MAX);
  auto tail_begin = file.size() - tail_bytes;
  TROUPE_ASSIGN(auto tail, read_part(file, tail_begin, tail_bytes));
  auto end = tail.size() < end_bytes ? tail.npos : tail.size() - end_bytes + 1;
  while (end != tail.npos && end-- > 0)
    if (number_of<uint32_t>(tail, end) == end_magic &&
        number_of<uint16_t>(tail, end + 20) == tail.size() - end - end_bytes)
      break;
  if (end == tail.npos)
    return failure(error_kind::data_loss, file.path(),
                   ": has no directory at its end: it was cut off, or is not a zip archive");
  directory located{number_of<uint32_t>(tail, end + 16), number_of<uint32_t>(tail, end + 12),
                    number_of<uint16_t>(tail, end + 10)};
  if (end >= wide_place_bytes &&
      number_of<uint32_t>(tail, end - wide_place_bytes) == wide_place_magic) {
    auto wide_end_offset = number_of<uint64_t>(tail, end - wide_place_bytes + 8);
    TROUPE_ASSIGN(auto wide_end, read_part(file, wide_end_offset, wide_end_bytes));
    if (number_of<uint32_t>(wide_end, 0) != wide_end_magic)
      return failure(error_kind::data_loss, file.path(), ": its 64-bit directory is not at byte ",
                     wide_end_offset);
    located = {number_of<uint64_t>(wide_end, 48), number_of<uint64_t>(wide_end, 40),
               number_of<uint64_t>(wide_end, 32)};
  }
  if (located.offset > file.size() || located.bytes > file.size() - located.offset ||
      located.bytes > max_directory_bytes || located.count > located.bytes / entry_bytes)
    return failure(error_kind::data_loss, file.path(), ": its directory of ", located.count,
                   " files would be ", located.bytes, " bytes at byte ", located.offset);
  return located;
}

// The sizes that do not fit into 32 bits are in an extra field, in this order.
bool read_wide(std::string_view extra, zip_entry& entry) {
  while (extra.size() >= 4) {
    auto id = number_of<uint16_t>(extra, 0), size = number_of<uint16_t>(extra, 2);
    extra.remove_prefix(4);
    if (size > extra.size())
      return false;
    auto field = extra.substr(0, size);
    extra.remove_prefix(size);
    if (id != wide_id)
      continue;
    for (auto* number : {&entry.content_bytes, &entry.stored_bytes, &entry.offset}) {
      if (*number != wide)
        continue;
      if (field.size() < 8)
        return false;
      *number = number_of<uint64_t>(field, 0);
      field.remove_prefix(8);
    }
    return true;
  }
  return true;
}

} // namespace

result<zip_reader> zip_reader::open(file_system& files, const std::string& path) {
  zip_reader reader;
  TROUPE_ASSIGN(reader.file_, files.open(path));
  TROUPE_ASSIGN(auto place, find_directory(*reader.file_));
  TROUPE_ASSIGN(auto content, read_part(*reader.file_, place.offset, place.bytes));
  std::string_view unread = content;
  std::set<std::string_view> names;
  for (uint64_t i = 0; i < place.count; ++i) {
    auto damaged = [&] {
      return failure(error_kind::data_loss, path, ": entry ", i, " of its directory is damaged");
    };
    if (unread.size() < entry_bytes || number_of<uint32_t>(unread, 0) != entry_magic)
      return damaged();
    size_t name_bytes = number_of<uint16_t>(unread, 28),
           extra_bytes = number_of<uint16_t>(unread, 30),
           comment_bytes = number_of<uint16_t>(unread, 32);
    if (name_bytes + extra_bytes + comment_bytes > unread.size() - entry_bytes)
      return damaged();
    zip_entry entry{std::string{unread.substr(entry_bytes, name_bytes)},
                    number_of<uint32_t>(unread, 24),
                    number_of<uint32_t>(unread, 20),
                    number_of<uint32_t>(unread, 42),
                    number_of<uint32_t>(unread, 16),
                    number_of<uint16_t>(unread, 10)};
    auto flags = number_of<uint16_t>(unread, 8);
    if (!read_wide(unread.substr(entry_bytes + name_bytes, extra_bytes), entry))
      return damaged();
    if (!names.insert(unread.substr(entry_bytes, name_bytes)).second)
      return failure(error_kind::data_loss, path, ": has '", entry.name, "' twice");
    if (flags & encrypted_flag || (entry.method != stored_method && entry.method != deflate_method))
      return failure(error_kind::unimplemented, path, ": '", entry.name,
                     "' is encrypted or compressed in a way that we cannot read (method ",
                     entry.method, ")");
    if (entry.offset > place.offset || entry.stored_bytes > place.offset - entry.offset)
      return failure(error_kind::data_loss, path, ": '", entry.name, "' would have ",
                     entry.stored_bytes, " bytes from byte ", entry.offset,
                     " on, beyond the files of the archive");
    unread.remove_prefix(entry_bytes + name_bytes + extra_bytes + comment_bytes);
    reader.entries_.push_back(std::move(entry));
  }
  return reader;
}

status zip_reader::inflate_all(const zip_entry& entry, const std::string& from,
                               std::string& to) const {
  to.resize(entry.content_bytes);
  z_stream zlib = {};
  if (inflateInit2(&zlib, -15) != Z_OK) // without a zlib header
    return failure(error_kind::resource_exhausted, path(), ": no memory to decompress it");
  uint64_t bytes_in = 0, bytes_out = 0;
  auto code = Z_OK;
  char excess = 0; // receives a byte beyond the declared size
  while (code == Z_OK) {
    constexpr uint64_t part = uint64_t{1} << 30; // zlib counts with 32 bits
    auto part_in = std::min(part, from.size() - bytes_in),
         part_out = std::min(part, to.size() - bytes_out);
    zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from.data() + bytes_in));
    zlib.avail_in = static_cast<uInt>(part_in);
    zlib.next_out = reinterpret_cast<Bytef*>(part_out > 0 ? to.data() + bytes_out : &excess);
    zlib.avail_out = static_cast<uInt>(std::max<uint64_t>(part_out, 1));
    code = inflate(&zlib, Z_NO_FLUSH);
    bytes_in += part_in - zlib.avail_in;
    bytes_out += std::max<uint64_t>(part_out, 1) - zlib.avail_out;
    if (bytes_out > to.size())
      code = Z_DATA_ERROR;
  }
  inflateEnd(&zlib);
  if (code != Z_STREAM_END || bytes_out != to.size() || bytes_in != from.size())
    return failure(error_kind::data_loss, path(), ": '", entry.name,
                   "' is damaged: it does not decompress to ", entry.content_bytes, " bytes");
  return {};
}

status zip_reader::damaged(const zip_entry& entry, std::string_view reason) const {
  return failure(error_kind::data_loss, path(), ": '", entry.name, "' is damaged: ", reason);
}

// Finds the offset of a file's bytes, and checks that the archive has all of them.
result<uint64_t> zip_reader::find_content(const zip_entry& entry) const {
  TROUPE_ASSIGN(auto head, read_part(*file_, entry.offset, local_bytes));
  if (number_of<uint32_t>(head, 0) != local_magic)
    return damaged(entry, "it does not begin like a file of an archive");
  auto begin =
      entry.offset + local_bytes + number_of<uint16_t>(head, 26) + number_of<uint16_t>(head, 28);
  auto deflated = entry.method == deflate_method;
  if (deflated ? entry.content_bytes / max_inflation > entry.stored_bytes + 1
               : entry.content_bytes != entry.stored_bytes)
    return damaged(entry, concat(entry.stored_bytes, " bytes cannot become ", entry.content_bytes));
  if (begin > file_->size() || entry.stored_bytes > file_->size() - begin)
    return damaged(entry, "it goes beyond the archive");
  return begin;
}

result<std::string> zip_reader::read_beginning(const zip_entry& entry, uint64_t max_bytes) const {
  TROUPE_ASSIGN(auto begin, find_content(entry));
  TROUPE_ASSIGN(auto content, read_part(*file_, begin, std::min(max_bytes, entry.stored_bytes)));
  if (entry.method != deflate_method)
    return content;
  std::string inflated(std::min(max_bytes, entry.content_bytes), '\0');
  z_stream zlib = {};
  if (inflateInit2(&zlib, -15) != Z_OK) // without a zlib header
    return failure(error_kind::resource_exhausted, path(), ": no memory to decompress it");
  zlib.next_in = reinterpret_cast<Bytef*>(content.data());
  zlib.avail_in = static_cast<uInt>(content.size());
  zlib.next_out = reinterpret_cast<Bytef*>(inflated.data());
  zlib.avail_out = static_cast<uInt>(inflated.size());
  auto code = inflate(&zlib, Z_SYNC_FLUSH);
  inflated.resize(inflated.size() - zlib.avail_out);
  inflateEnd(&zlib);
  if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
    return damaged(entry, "it cannot be decompressed");
  return inflated;
}

result<std::string> zip_reader::read(const zip_entry& entry) const {
  TROUPE_ASSIGN(auto begin, find_content(entry));
  auto deflated = entry.method == deflate_method;
  TROUPE_ASSIGN(auto content, read_part(*file_, begin, entry.stored_bytes));
  if (deflated) {
    std::string inflated;
    TROUPE_TRY(inflate_all(entry, content, inflated));
    content = std::move(inflated);
  }
  auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
  if (static_cast<uint32_t>(crc) != entry.crc)
    return damaged(entry, "its checksum is wrong");
  return content;
}

result<zip_writer> zip_writer::create(file_system& files, const std::string& path,
                                      uint64_t zip64_from) {
  zip_writer writer;
  writer.zip64_from_ = zip64_from;
  TROUPE_ASSIGN(writer.file_, files.create(path));
  return writer;
}

namespace {

std::string deflate_all(std::string_view content) {
  std::string compressed;
  z_stream zlib = {};
  if (deflateInit2(&zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc{};
  do {
    auto part = content.substr(0, size_t{1} << 30);
    content.remove_prefix(part.size());
    zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
    zlib.avail_in = static_cast<uInt>(part.size());
    char out[16 * 1024];
    do {
      zlib.next_out = reinterpret_cast<Bytef*>(out);
      zlib.avail_out = sizeof out;
      deflate(&zlib, content.empty() ? Z_FINISH : Z_NO_FLUSH);
      compressed.append(out, sizeof out - zlib.avail_out);
    } while (zlib.avail_out == 0);
  } while (!content.empty());
  deflateEnd(&zlib);
  return compressed;
}

} // namespace

status zip_writer::add(const std::string& name, std::string_view content, bool deflate) {
  if (name.empty() || name.size() > UINT16_MAX)
    return invalid(file_->path(), ": a file of an archive cannot have a name of ", name.size(),
                   " bytes");
  if (std::ranges::find(entries_, name, &zip_entry::name) != entries_.end())
    return invalid(file_->path(), ": has '", name, "' already");
  std::string compressed;
  if (deflate)
    compressed = deflate_all(content);
  auto bytes = deflate ? std::string_view{compressed} : content;
  zip_entry entry{name,
                  content.size(),
                  bytes.size(),
                  file_->size(),
                  0,
                  deflate ? deflate_method : stored_method};
  entry.crc = static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
  auto is_wide = std::max(entry.content_bytes, entry.stored_bytes) >= zip64_from_;
  std::string header, extra;
  if (is_wide)
    append_numbers(extra, wide_id, uint16_t{16}, entry.content_bytes, entry.stored_bytes);
  append_numbers(header, local_magic, uint16_t{45}, utf8_flag, entry.method, uint16_t{0},
                 uint16_t{0x21}, // midnight of 1 January 1980: equal arrays make equal files
                 entry.crc, is_wide ? wide : static_cast<uint32_t>(entry.stored_bytes),
                 is_wide ? wide : static_cast<uint32_t>(entry.content_bytes),
                 static_cast<uint16_t>(name.size()), static_cast<uint16_t>(extra.size()));
  TROUPE_TRY(file_->append(header + name + extra));
  TROUPE_TRY(file_->append(bytes));
  entries_.push_back(std::move(entry));
  return {};
}

status zip_writer::finish() {
  directory place{file_->size(), 0, entries_.size()};
  std::string content;
  for (const auto& entry : entries_) {
    std::string extra;
    auto store_or_extend = [&](uint64_t number) {
      if (number < zip64_from_)
        return static_cast<uint32_t>(number);
      append_numbers(extra, number);
      return wide;
    };
    auto bytes = store_or_extend(entry.content_bytes), stored = store_or_extend(entry.stored_bytes),
         offset = store_or_extend(entry.offset);
    if (!extra.empty()) {
      std::string field;
      append_numbers(field, wide_id, static_cast<uint16_t>(extra.size()));
      extra.insert(0, field);
    }
    append_numbers(content, entry_magic, uint16_t{45}, uint16_t{45}, utf8_flag, entry.method,
                   uint16_t{0}, uint16_t{0x21}, entry.crc, stored, bytes,
                   static_cast<uint16_t>(entry.name.size()), static_cast<uint16_t>(extra.size()),
                   uint16_t{0}, uint16_t{0}, uint16_t{0}, uint32_t{0}, offset);
    content += entry.name + extra;
  }
  place.bytes = content.size();
  auto is_wide = std::max({place.bytes, place.offset}) >= zip64_from_ || place.count >= wide_count;
  if (is_wide) {
    auto wide_end_offset = place.offset + place.bytes;
    append_numbers(content, wide_end_magic, uint64_t{wide_end_bytes - 12}, uint16_t{45},
                   uint16_t{45}, uint32_t{0}, uint32_t{0}, place.count, place.count, place.bytes,
                   place.offset);
    append_numbers(content, wide_place_magic, uint32_t{0}, wide_end_offset, uint32_t{1});
  }
  auto count = is_wide ? wide_count : static_cast<uint16_t>(place.count);
  append_numbers(content, end_magic, uint16_t{0}, uint16_t{0}, count, count,
                 is_wide ? wide : static_cast<uint32_t>(place.bytes),
                 is_wide ? wide : static_cast<uint32_t>(place.offset), uint16_t{0});
  TROUPE_TRY(file_->append(content));
  return file_->sync();
}

} // namespace troupe
