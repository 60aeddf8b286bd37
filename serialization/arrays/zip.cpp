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
constexpr uint64_t largest_directory = uint64_t{1} << 28;
constexpr uint64_t most_inflation = 1032; // what deflate can make of a byte
constexpr uint32_t wide = 0xffffffff;     // stands for a number of 64 bits elsewhere
constexpr uint16_t wide_count = 0xffff;

template <class T>
T number_of(std::string_view bytes, size_t at) {
  T number{};
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

template <class... Ts>
void append_numbers(std::string& to, Ts... numbers) {
  (to.append(reinterpret_cast<const char*>(&numbers), sizeof numbers), ...);
}

// Where the directory is.
struct directory {
  uint64_t offset = 0, bytes = 0, count = 0;
};

result<std::string> read_part(const readable_file& file, uint64_t offset, uint64_t bytes) {
  std::string part(bytes, '\0');
  TROUPE_TRY(file.read(offset, std::as_writable_bytes(std::span{part})));
  return part;
}

result<directory> find_directory(const readable_file& file) {
  // The end has a comment of any length.
  auto tail_bytes = std::min<uint64_t>(file.size(), end_bytes + UINT16_MAX);
  auto tail_at = file.size() - tail_bytes;
  TROUPE_ASSIGN(auto tail, read_part(file, tail_at, tail_bytes));
  auto end = tail.size() < end_bytes ? tail.npos : tail.size() - end_bytes + 1;
  while (end != tail.npos && end-- > 0)
    if (number_of<uint32_t>(tail, end) == end_magic &&
        number_of<uint16_t>(tail, end + 20) == tail.size() - end - end_bytes)
      break;
  if (end == tail.npos)
    return failure(error_kind::data_loss, file.path(),
                   ": has no directory at its end: it was cut off, or is no zip archive");
  directory found{number_of<uint32_t>(tail, end + 16), number_of<uint32_t>(tail, end + 12),
                  number_of<uint16_t>(tail, end + 10)};
  if (end >= wide_place_bytes &&
      number_of<uint32_t>(tail, end - wide_place_bytes) == wide_place_magic) {
    auto at = number_of<uint64_t>(tail, end - wide_place_bytes + 8);
    TROUPE_ASSIGN(auto more, read_part(file, at, wide_end_bytes));
    if (number_of<uint32_t>(more, 0) != wide_end_magic)
      return failure(error_kind::data_loss, file.path(), ": its 64-bit directory is not at byte ",
                     at);
    found = {number_of<uint64_t>(more, 48), number_of<uint64_t>(more, 40),
             number_of<uint64_t>(more, 32)};
  }
  if (found.offset > file.size() || found.bytes > file.size() - found.offset ||
      found.bytes > largest_directory || found.count > found.bytes / entry_bytes)
    return failure(error_kind::data_loss, file.path(), ": its directory of ", found.count,
                   " files would be ", found.bytes, " bytes at byte ", found.offset);
  return found;
}

// The sizes that did not fit into 32 bits stand in an extra field, in this order.
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
    for (auto* number : {&entry.bytes, &entry.stored, &entry.offset}) {
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
  zip_reader made;
  TROUPE_ASSIGN(made.file_, files.open(path));
  TROUPE_ASSIGN(auto where, find_directory(*made.file_));
  TROUPE_ASSIGN(auto all, read_part(*made.file_, where.offset, where.bytes));
  std::string_view rest = all;
  std::set<std::string_view> names;
  for (uint64_t i = 0; i < where.count; ++i) {
    auto damaged = [&] {
      return failure(error_kind::data_loss, path, ": entry ", i, " of its directory is damaged");
    };
    if (rest.size() < entry_bytes || number_of<uint32_t>(rest, 0) != entry_magic)
      return damaged();
    size_t name = number_of<uint16_t>(rest, 28), extra = number_of<uint16_t>(rest, 30),
           comment = number_of<uint16_t>(rest, 32);
    if (name + extra + comment > rest.size() - entry_bytes)
      return damaged();
    zip_entry entry{std::string{rest.substr(entry_bytes, name)},
                    number_of<uint32_t>(rest, 24),
                    number_of<uint32_t>(rest, 20),
                    number_of<uint32_t>(rest, 42),
                    number_of<uint32_t>(rest, 16),
                    number_of<uint16_t>(rest, 10)};
    auto flags = number_of<uint16_t>(rest, 8);
    if (!read_wide(rest.substr(entry_bytes + name, extra), entry))
      return damaged();
    if (!names.insert(rest.substr(entry_bytes, name)).second)
      return failure(error_kind::data_loss, path, ": has '", entry.name, "' twice");
    if (flags & encrypted_flag || (entry.method != stored_method && entry.method != deflate_method))
      return failure(error_kind::unimplemented, path, ": '", entry.name,
                     "' is encrypted or compressed in a way that we cannot read (method ",
                     entry.method, ")");
    if (entry.offset > where.offset || entry.stored > where.offset - entry.offset)
      return failure(error_kind::data_loss, path, ": '", entry.name, "' would have ", entry.stored,
                     " bytes from byte ", entry.offset, " on, behind the files of the archive");
    rest.remove_prefix(entry_bytes + name + extra + comment);
    made.entries_.push_back(std::move(entry));
  }
  return made;
}

status zip_reader::inflate_all(const zip_entry& entry, const std::string& from,
                               std::string& to) const {
  to.resize(entry.bytes);
  z_stream zlib = {};
  if (inflateInit2(&zlib, -15) != Z_OK) // without a head
    return failure(error_kind::resource_exhausted, path(), ": no memory to decompress it");
  uint64_t in = 0, out = 0;
  auto code = Z_OK;
  char behind = 0; // where what is too long would go
  while (code == Z_OK) {
    constexpr uint64_t part = uint64_t{1} << 30; // zlib counts with 32 bits
    auto some_in = std::min(part, from.size() - in), some_out = std::min(part, to.size() - out);
    zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from.data() + in));
    zlib.avail_in = static_cast<uInt>(some_in);
    zlib.next_out = reinterpret_cast<Bytef*>(some_out > 0 ? to.data() + out : &behind);
    zlib.avail_out = static_cast<uInt>(std::max<uint64_t>(some_out, 1));
    code = inflate(&zlib, Z_NO_FLUSH);
    in += some_in - zlib.avail_in;
    out += std::max<uint64_t>(some_out, 1) - zlib.avail_out;
    if (out > to.size())
      code = Z_DATA_ERROR;
  }
  inflateEnd(&zlib);
  if (code != Z_STREAM_END || out != to.size() || in != from.size())
    return failure(error_kind::data_loss, path(), ": '", entry.name,
                   "' is damaged: it does not become ", entry.bytes, " bytes");
  return {};
}

status zip_reader::damaged(const zip_entry& entry, std::string_view why) const {
  return failure(error_kind::data_loss, path(), ": '", entry.name, "' is damaged: ", why);
}

// Where the bytes of a file begin, which are all there.
result<uint64_t> zip_reader::find_content(const zip_entry& entry) const {
  TROUPE_ASSIGN(auto head, read_part(*file_, entry.offset, local_bytes));
  if (number_of<uint32_t>(head, 0) != local_magic)
    return damaged(entry, "it does not begin like a file of an archive");
  auto begin =
      entry.offset + local_bytes + number_of<uint16_t>(head, 26) + number_of<uint16_t>(head, 28);
  auto deflated = entry.method == deflate_method;
  if (deflated ? entry.bytes / most_inflation > entry.stored + 1 : entry.bytes != entry.stored)
    return damaged(entry, concat(entry.stored, " bytes cannot become ", entry.bytes));
  if (begin > file_->size() || entry.stored > file_->size() - begin)
    return damaged(entry, "it goes beyond the archive");
  return begin;
}

result<std::string> zip_reader::read_beginning(const zip_entry& entry, uint64_t most) const {
  TROUPE_ASSIGN(auto begin, find_content(entry));
  TROUPE_ASSIGN(auto content, read_part(*file_, begin, std::min(most, entry.stored)));
  if (entry.method != deflate_method)
    return content;
  std::string inflated(std::min(most, entry.bytes), '\0');
  z_stream zlib = {};
  if (inflateInit2(&zlib, -15) != Z_OK) // without a head
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
  TROUPE_ASSIGN(auto content, read_part(*file_, begin, entry.stored));
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
                                      uint64_t wide_from) {
  zip_writer made;
  made.wide_from_ = wide_from;
  TROUPE_ASSIGN(made.file_, files.create(path));
  return made;
}

namespace {

std::string deflated(std::string_view content) {
  std::string to;
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
      to.append(out, sizeof out - zlib.avail_out);
    } while (zlib.avail_out == 0);
  } while (!content.empty());
  deflateEnd(&zlib);
  return to;
}

} // namespace

status zip_writer::add(const std::string& name, std::string_view content, bool deflate) {
  if (name.empty() || name.size() > UINT16_MAX)
    return invalid(file_->path(), ": a file of an archive cannot have a name of ", name.size(),
                   " bytes");
  if (std::ranges::find(entries_, name, &zip_entry::name) != entries_.end())
    return invalid(file_->path(), ": has '", name, "' already");
  std::string smaller;
  if (deflate)
    smaller = deflated(content);
  auto bytes = deflate ? std::string_view{smaller} : content;
  zip_entry entry{name,
                  content.size(),
                  bytes.size(),
                  file_->size(),
                  0,
                  deflate ? deflate_method : stored_method};
  entry.crc = static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
  auto is_wide = std::max(entry.bytes, entry.stored) >= wide_from_;
  std::string head, extra;
  if (is_wide)
    append_numbers(extra, wide_id, uint16_t{16}, entry.bytes, entry.stored);
  append_numbers(head, local_magic, uint16_t{45}, utf8_flag, entry.method, uint16_t{0},
                 uint16_t{0x21}, // midnight of 1 January 1980: equal arrays make equal files
                 entry.crc, is_wide ? wide : static_cast<uint32_t>(entry.stored),
                 is_wide ? wide : static_cast<uint32_t>(entry.bytes),
                 static_cast<uint16_t>(name.size()), static_cast<uint16_t>(extra.size()));
  TROUPE_TRY(file_->append(head + name + extra));
  TROUPE_TRY(file_->append(bytes));
  entries_.push_back(std::move(entry));
  return {};
}

status zip_writer::finish() {
  directory where{file_->size(), 0, entries_.size()};
  std::string all;
  for (const auto& entry : entries_) {
    std::string extra;
    auto narrow = [&](uint64_t number) {
      if (number < wide_from_)
        return static_cast<uint32_t>(number);
      append_numbers(extra, number);
      return wide;
    };
    auto bytes = narrow(entry.bytes), stored = narrow(entry.stored), offset = narrow(entry.offset);
    if (!extra.empty()) {
      std::string field;
      append_numbers(field, wide_id, static_cast<uint16_t>(extra.size()));
      extra.insert(0, field);
    }
    append_numbers(all, entry_magic, uint16_t{45}, uint16_t{45}, utf8_flag, entry.method,
                   uint16_t{0}, uint16_t{0x21}, entry.crc, stored, bytes,
                   static_cast<uint16_t>(entry.name.size()), static_cast<uint16_t>(extra.size()),
                   uint16_t{0}, uint16_t{0}, uint16_t{0}, uint32_t{0}, offset);
    all += entry.name + extra;
  }
  where.bytes = all.size();
  auto is_wide = std::max({where.bytes, where.offset}) >= wide_from_ || where.count >= wide_count;
  if (is_wide) {
    auto at = where.offset + where.bytes;
    append_numbers(all, wide_end_magic, uint64_t{wide_end_bytes - 12}, uint16_t{45}, uint16_t{45},
                   uint32_t{0}, uint32_t{0}, where.count, where.count, where.bytes, where.offset);
    append_numbers(all, wide_place_magic, uint32_t{0}, at, uint32_t{1});
  }
  auto count = is_wide ? wide_count : static_cast<uint16_t>(where.count);
  append_numbers(all, end_magic, uint16_t{0}, uint16_t{0}, count, count,
                 is_wide ? wide : static_cast<uint32_t>(where.bytes),
                 is_wide ? wide : static_cast<uint32_t>(where.offset), uint16_t{0});
  TROUPE_TRY(file_->append(all));
  return file_->sync();
}

} // namespace troupe
