#include "troupe/serialization/graph_def/values.hpp"
#include "troupe/serialization/storage/checksum.hpp"
#include "troupe/serialization/storage/crc32c.hpp"
#include "troupe/serialization/tensor_bundle/bundle_files.hpp"
#include "troupe/serialization/tensor_bundle/slice_extents.hpp"
#include "troupe/serialization/tensor_bundle/slice_key.hpp"
#include "troupe/serialization/tensor_bundle/sorted_table.hpp"
#include "troupe/serialization/tensor_bundle/tensor_bundle.hpp"
#include "troupe/serialization/tensor_bundle/tensor_bundle.pb.h"
#include "troupe/serialization/tensor_bundle/varint.hpp"

#include "troupe/serialization/tensor_bundle/no_such_tensor.hpp"

#include <algorithm>
#include <bit>

namespace troupe {
namespace {

using namespace tensor_bundle;

constexpr int bundle_version = 1;
constexpr int most_shards = 100'000; // the limit of five digits
constexpr uint64_t largest_index = uint64_t{1} << 30;
constexpr size_t checked_part = size_t{1} << 20;

template <class Message>
bool parse(Message& message, std::string_view bytes) {
  return bytes.size() <= INT32_MAX &&
         message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

status check_header(const BundleHeaderProto& header) {
  if (header.version().min_consumer() > bundle_version)
    return failure(error_kind::unimplemented, "needs a reader of version ",
                   header.version().min_consumer(), ", and Troupe's has version ", bundle_version);
  if (header.endianness() != BundleHeaderProto::LITTLE)
    return failure(error_kind::unimplemented, "is big endian, which is not supported");
  if (header.num_shards() < 1 || header.num_shards() > most_shards)
    return failure(error_kind::data_loss, "declares ", header.num_shards(), " data files");
  return {};
}

result<shape> read_dims(const graph_def::TensorShapeProto& from) {
  TROUPE_ASSIGN(auto dims, graph_def::read_shape(from));
  if (!dims.fully_known())
    return invalid("its shape is not known");
  return dims.known();
}

// Returns dtype::none for a type that Troupe does not have: the other tensors of the checkpoint can
// still be read.
result<dtype> type_of(int number) {
  auto type = graph_def::read_stored_type(number);
  if (type || type.status().kind() == error_kind::unimplemented)
    return type ? *type : dtype::none;
  return type.status();
}

status as_damage(status cause, std::string_view context) {
  auto kind = cause.kind() == error_kind::invalid_argument ? error_kind::data_loss : cause.kind();
  return failure(kind, context, ": ", cause.message());
}

} // namespace

struct tensor_bundle_reader::stored_range {
  uint32_t shard = 0, crc = 0;
  uint64_t offset = 0, bytes = 0;
};

tensor_bundle_reader::tensor_bundle_reader() = default;
tensor_bundle_reader::tensor_bundle_reader(tensor_bundle_reader&&) noexcept = default;
tensor_bundle_reader::~tensor_bundle_reader() = default;

result<tensor_bundle_reader> tensor_bundle_reader::open(file_system& files,
                                                        const std::string& prefix) {
  tensor_bundle_reader reader;
  reader.index_path_ = bundle_index_path(prefix);
  TROUPE_ASSIGN(auto content, read_whole(files, reader.index_path_, largest_index));
  auto rows = read_sorted_table(content);
  if (!rows)
    return rows.status().with_context(reader.index_path_);
  BundleHeaderProto header;
  if (rows->empty() || !rows->front().key.empty() || !parse(header, rows->front().value))
    return failure(error_kind::data_loss, reader.index_path_,
                   ": has no header: it is not an index of a checkpoint of TensorFlow");
  TROUPE_TRY(check_header(header).with_context(reader.index_path_));
  for (int i = 0; i < header.num_shards(); ++i) {
    TROUPE_ASSIGN(auto file, files.open(bundle_data_path(prefix, i, header.num_shards())));
    reader.shards_.push_back(std::move(file));
  }
  std::map<std::string_view, std::string_view> by_key;
  for (const auto& row : *rows)
    by_key[row.key] = row.value;
  for (const auto& row : *rows) {
    if (row.key.empty() || row.key.front() == '\0') // the header, and slices
      continue;
    auto added = reader.add(row.key, row.value, by_key);
    if (!added)
      return as_damage(added, concat(reader.index_path_, ": tensor '", row.key, "'"));
  }
  return reader;
}

status tensor_bundle_reader::add(const std::string& key, const std::string& value,
                                 const std::map<std::string_view, std::string_view>& rows) {
  BundleEntryProto entry;
  if (!parse(entry, value))
    return invalid("its entry is damaged");
  bundle_entry added{.name = key};
  TROUPE_ASSIGN(added.type, type_of(entry.dtype()));
  TROUPE_ASSIGN(added.dims, read_dims(entry.shape()));
  std::vector<stored_range> ranges;
  if (entry.slices().empty()) {
    TROUPE_ASSIGN(auto range, check_range(key, value, added.type, added.dims));
    ranges.push_back(range);
  }
  for (const auto& stored_slice : entry.slices()) {
    auto extents = read_extents(stored_slice);
    TROUPE_ASSIGN(auto slice, slice_within(added.dims, extents));
    auto row = rows.find(slice_key(key, extents));
    if (row == rows.end())
      return invalid("its slice ", slice.dims, " is missing");
    TROUPE_ASSIGN(auto range, check_range(key, std::string{row->second}, added.type, slice.dims));
    ranges.push_back(range);
    added.slices.push_back(std::move(slice));
  }
  if (!added.slices.empty()) {
    TROUPE_TRY(check_disjoint(added.slices));
    added.complete = check_cover(added.dims, added.slices).ok();
  }
  checksum_stream sums;
  for (const auto& part : ranges) {
    added.bytes += part.bytes;
    sums.add(std::as_bytes(std::span{&part.crc, 1}));
  }
  added.checksum = sums.value();
  entries_.push_back(std::move(added));
  ranges_.push_back(std::move(ranges));
  return {};
}

// Checks an entry that has bytes. They must be of this type and shape.
result<tensor_bundle_reader::stored_range>
tensor_bundle_reader::check_range(std::string_view, const std::string& value, dtype type,
                                  const shape& dims) const {
  BundleEntryProto entry;
  if (!parse(entry, value))
    return invalid("the entry of a slice is damaged");
  TROUPE_ASSIGN(auto stored_type, type_of(entry.dtype()));
  TROUPE_ASSIGN(auto stored_dims, read_dims(entry.shape()));
  if (stored_type != type || stored_dims != dims)
    return invalid("a slice ", type, dims, " is stored as ", stored_type, stored_dims);
  if (entry.shard_id() < 0 || static_cast<size_t>(entry.shard_id()) >= shards_.size())
    return invalid("its data file is number ", entry.shard_id(), " of ", shards_.size());
  stored_range range{static_cast<uint32_t>(entry.shard_id()), entry.crc32c(),
                     static_cast<uint64_t>(entry.offset()), static_cast<uint64_t>(entry.size())};
  const auto& shard = *shards_[range.shard];
  if (entry.offset() < 0 || entry.size() < 0 || range.offset > shard.size() ||
      range.bytes > shard.size() - range.offset)
    return invalid("its ", entry.size(), " bytes from byte ", entry.offset(), " on exceed ",
                   shard.path(), ", which has ", shard.size(), " bytes: the file was cut off");
  const auto count = static_cast<uint64_t>(dims.elements());
  uint64_t bytes = 0;
  auto fits = type == dtype::none ? true
              : type == dtype::string
                  ? count <= range.bytes
                  : !__builtin_mul_overflow(count, size_of(type), &bytes) && bytes == range.bytes;
  if (!fits)
    return invalid("a ", type, dims, " does not take ", range.bytes, " bytes");
  return range;
}

const bundle_entry* tensor_bundle_reader::find(std::string_view name) const noexcept {
  auto entry = std::ranges::lower_bound(entries_, name, {}, &bundle_entry::name);
  return entry != entries_.end() && entry->name == name ? &*entry : nullptr;
}

status tensor_bundle_reader::damaged(std::string_view name, const stored_range& range,
                                     std::string_view reason) const {
  return failure(error_kind::data_loss, shards_[range.shard]->path(), ": tensor '", name,
                 "' at byte ", range.offset, ": ", reason);
}

result<tensor> tensor_bundle_reader::read_at(std::string_view name, const stored_range& range,
                                             dtype type, const shape& dims, allocator& from) const {
  if (type == dtype::string)
    return read_strings(name, range, dims, from);
  TROUPE_ASSIGN(auto value, tensor::make(type, dims, from));
  std::span bytes{static_cast<std::byte*>(value.raw()), value.bytes()};
  uint32_t crc = 0;
  for (size_t begin = 0; begin < bytes.size(); begin += checked_part) {
    auto part = bytes.subspan(begin, std::min(checked_part, bytes.size() - begin));
    TROUPE_TRY(shards_[range.shard]->read(range.offset + begin, part));
    crc = crc32c(part, crc);
  }
  if (masked_crc(crc) != range.crc)
    return damaged(name, range, "its checksum is wrong: its bytes have changed");
  if (type == dtype::boolean &&
      std::ranges::any_of(bytes, [](auto byte) { return byte > std::byte{1}; }))
    return damaged(name, range, "a byte of a bool is neither 0 nor 1");
  return value;
}

// The stored form is the lengths as varints, a checksum of them, and the strings. The checksum of
// the tensor covers the lengths with 4 bytes each (8 where they need more), that checksum, and the
// strings.
result<tensor> tensor_bundle_reader::read_strings(std::string_view name, const stored_range& range,
                                                  const shape& dims, allocator& from) const {
  std::string content(range.bytes, '\0');
  TROUPE_TRY(shards_[range.shard]->read(range.offset, std::as_writable_bytes(std::span{content})));
  std::string_view unread = content;
  std::vector<uint64_t> lengths(static_cast<size_t>(dims.elements()));
  uint32_t crc = 0;
  for (auto& length : lengths) {
    if (!take_varint(unread, length))
      return damaged(name, range, "it is cut off within the lengths of its strings");
    crc = crc32c(std::as_bytes(std::span{&length, 1}).first(length > UINT32_MAX ? 8 : 4), crc);
  }
  uint32_t stored = 0;
  if (unread.size() < sizeof stored)
    return damaged(name, range, "it is cut off after the lengths of its strings");
  std::memcpy(&stored, unread.data(), sizeof stored);
  unread.remove_prefix(sizeof stored);
  if (stored != masked_crc(crc))
    return damaged(name, range, "the checksum of the lengths of its strings is wrong");
  crc = crc32c(std::as_bytes(std::span{&stored, 1}), crc);
  if (masked_crc(crc32c(std::as_bytes(std::span{unread}), crc)) != range.crc)
    return damaged(name, range, "its checksum is wrong: its bytes have changed");
  TROUPE_ASSIGN(auto value, tensor::make(dtype::string, dims, from));
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] > unread.size())
      return damaged(name, range, concat("the length of string ", i, " goes beyond its bytes"));
    value.data<std::string>()[i] = unread.substr(0, lengths[i]);
    unread.remove_prefix(lengths[i]);
  }
  if (!unread.empty())
    return damaged(name, range, concat("its strings do not take ", unread.size(), " of its bytes"));
  return value;
}

result<tensor> tensor_bundle_reader::read(std::string_view name, allocator& from) const {
  const auto* entry = find(name);
  if (!entry)
    return no_such_tensor(index_path_, name, entries_);
  return read_slice(name, std::vector<int64_t>(static_cast<size_t>(entry->dims.rank())),
                    entry->dims, from);
}

result<tensor> tensor_bundle_reader::read_slice(std::string_view name,
                                                std::span<const int64_t> offset, const shape& dims,
                                                allocator& from) const {
  const auto* entry = find(name);
  if (!entry)
    return no_such_tensor(index_path_, name, entries_);
  if (entry->type == dtype::none)
    return failure(error_kind::unimplemented, index_path_, ": tensor '", name,
                   "' has a type that Troupe does not have");
  auto outcome = check_slice(entry->dims, offset, dims);
  if (!outcome)
    return std::move(outcome).with_context(concat(index_path_, ": tensor '", name, "'"));
  const auto& ranges = ranges_[static_cast<size_t>(entry - entries_.data())];
  if (entry->slices.empty() && dims == entry->dims)
    return read_at(name, ranges[0], entry->type, dims, from);
  TROUPE_ASSIGN(auto value, tensor::make(entry->type, dims, from));
  int64_t available = 0;
  for (const auto& slice : entry->slices)
    available += count_overlap(slice.offset, slice.dims, offset, dims);
  if (!entry->complete && available != dims.elements())
    return failure(error_kind::failed_precondition, index_path_, ": tensor '", name, "' has ",
                   available, " of the ", dims.elements(),
                   " elements: it is a shard, and other checkpoints have the other elements");
  const std::vector<int64_t> origin(static_cast<size_t>(entry->dims.rank()));
  for (size_t i = 0; i < ranges.size(); ++i) {
    const auto& begin = entry->slices.empty() ? origin : entry->slices[i].offset;
    const auto& extents = entry->slices.empty() ? entry->dims : entry->slices[i].dims;
    if (!slices_overlap(begin, extents, offset, dims))
      continue;
    TROUPE_ASSIGN(auto part, read_at(name, ranges[i], entry->type, extents, heap_allocator()));
    copy_overlap(part, begin, value, offset);
  }
  return value;
}

} // namespace troupe
