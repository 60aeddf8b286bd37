#include "troupe/serialization/checkpoint/safetensors.hpp"
#include "troupe/serialization/checkpoint/safetensors_types.hpp"
#include "troupe/serialization/storage/strict_json.hpp"

#include "troupe/serialization/tensor_bundle/no_such_tensor.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace troupe {
namespace {

using nlohmann::json;
using safetensors::length_bytes;
using safetensors::multiplied;
using safetensors::part_bytes;

static_assert(std::endian::native == std::endian::little, "elements are stored as in memory");

constexpr int header_depth = 3; // the header, a tensor, its shape

result<uint64_t> extent(const json& value) {
  const auto* number = value.get_ptr<const json::number_unsigned_t*>();
  if (!number || *number > uint64_t{1} << 62)
    return invalid("'", json_text(value), "' is not a valid extent or offset");
  return *number;
}

// Reads an entry, before marks of Troupe's types are applied.
result<safetensors_entry> read_entry(const std::string& name, const json& object) {
  const auto* type_name = object.is_object() ? json_member<std::string>(object, "dtype") : nullptr;
  const auto* extents = object.is_object() ? json_member<json::array_t>(object, "shape") : nullptr;
  const auto* offsets =
      object.is_object() ? json_member<json::array_t>(object, "data_offsets") : nullptr;
  if (!type_name || !extents || !offsets || offsets->size() != 2 || object.size() != 3)
    return invalid("expected dtype, shape and two data_offsets");
  const auto* type = safetensors::find_type(*type_name);
  if (!type)
    return failure(error_kind::unimplemented, "there is no element type '", *type_name, "'");
  std::vector<int64_t> dims;
  for (const auto& item : *extents) {
    TROUPE_ASSIGN(auto number, extent(item));
    dims.push_back(static_cast<int64_t>(number));
  }
  TROUPE_ASSIGN(auto parsed_dims, shape::make(dims));
  TROUPE_ASSIGN(auto begin, extent((*offsets)[0]));
  TROUPE_ASSIGN(auto end, extent((*offsets)[1]));
  auto bits = multiplied(static_cast<uint64_t>(parsed_dims.elements()), type->bits);
  if (end < begin || !bits || *bits % 8 != 0 || *bits / 8 != end - begin)
    return invalid(*type_name, parsed_dims, " does not take the bytes from ", begin, " to ", end);
  return safetensors_entry{name, type->type, parsed_dims, *type_name, begin, end};
}

// Sets the type and shape of an entry to those of a mark.
status apply_mark(safetensors_entry& entry, const std::string& text) {
  auto marked = safetensors::parse_mark(text);
  if (!marked)
    return invalid("'", text, "' is not a type and shape");
  auto [type, dims] = *marked;
  auto count = static_cast<uint64_t>(dims.elements());
  auto bytes = entry.end - entry.begin;
  auto fits = false;
  if (type == dtype::string)
    fits = entry.stored_as == "U8" && entry.dims.rank() == 1 && count <= bytes / 8;
  else if (type == dtype::c128)
    fits = entry.stored_as == "F64" && multiplied(count, 16) == bytes;
  if (!fits)
    return invalid("it cannot be a ", text, ": it is stored as ", entry.stored_as, entry.dims);
  entry.type = type;
  entry.dims = dims;
  return {};
}

struct header {
  std::vector<safetensors_entry> entries;
  safetensors_metadata metadata;
};

result<header> parse_header(std::string_view text, uint64_t data_bytes) {
  if (!text.starts_with('{'))
    return invalid("the header does not begin with '{'");
  TROUPE_ASSIGN(auto root, parse_strict_json(text, header_depth));
  if (!root.is_object())
    return invalid("the header is not an object");
  header parsed;
  safetensors_metadata marks;
  for (const auto& [name, value] : root.items()) {
    if (name != "__metadata__") {
      auto entry = read_entry(name, value);
      if (!entry)
        return entry.status().with_context(concat("tensor '", name, "'"));
      parsed.entries.push_back(*std::move(entry));
      continue;
    }
    if (!value.is_object())
      return invalid("__metadata__ is not an object");
    for (const auto& [key, member] : value.items()) {
      const auto* text_value = member.get_ptr<const std::string*>();
      if (!text_value)
        return invalid("'", key, "' of __metadata__ is not a string");
      auto is_mark = key.starts_with(safetensors::mark);
      (is_mark ? marks : parsed.metadata)[is_mark ? key.substr(safetensors::mark.size()) : key] =
          *text_value;
    }
  }
  std::ranges::sort(parsed.entries, [](const auto& a, const auto& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  uint64_t end = 0;
  for (auto& entry : parsed.entries) {
    if (entry.begin != end)
      return invalid("tensor '", entry.name, "' begins at byte ", entry.begin, " of the data, ",
                     entry.begin < end ? "within the previous one, which ends at byte "
                                       : "after a gap: the previous one ends at byte ",
                     end);
    end = entry.end;
    if (auto mark = marks.find(entry.name); mark != marks.end()) {
      TROUPE_TRY(apply_mark(entry, mark->second).with_context(concat("tensor '", entry.name, "'")));
      marks.erase(mark);
    }
  }
  if (!marks.empty())
    return invalid("the metadata has a type for tensor '", marks.begin()->first,
                   "', which does not exist");
  if (end != data_bytes)
    return invalid("tensors take ", end, " bytes, but ", data_bytes, " follow the header",
                   end > data_bytes ? ": it was cut off" : "");
  return parsed;
}

status as_damage(status error, const std::string& path) {
  auto kind =
      error.kind() == error_kind::invalid_argument || error.kind() == error_kind::out_of_range
          ? error_kind::data_loss
          : error.kind();
  return failure(kind, path, ": ", error.message());
}

} // namespace

result<safetensors_reader> safetensors_reader::open(file_system& files, const std::string& path) {
  safetensors_reader reader;
  TROUPE_ASSIGN(reader.file_, files.open(path));
  const auto size = reader.file_->size();
  uint64_t length = 0;
  if (size < length_bytes)
    return failure(error_kind::data_loss, path, ": has ", size,
                   " bytes, which is too short for safetensors");
  TROUPE_TRY(reader.file_->read(0, std::as_writable_bytes(std::span{&length, 1})));
  if (length > max_safetensors_header || length > size - length_bytes)
    return failure(error_kind::data_loss, path, ": its header would have ", length,
                   " bytes, but there are ", size - length_bytes, " (at most ",
                   max_safetensors_header,
                   " are allowed): it was cut off, or is not a safetensors file");
  std::string text(length, '\0');
  TROUPE_TRY(reader.file_->read(length_bytes, std::as_writable_bytes(std::span{text})));
  reader.data_begin_ = length_bytes + length;
  auto parsed = parse_header(text, size - reader.data_begin_);
  if (!parsed)
    return as_damage(parsed.status(), path);
  reader.entries_ = std::move(parsed->entries);
  reader.metadata_ = std::move(parsed->metadata);
  for (size_t i = 0; i < reader.entries_.size(); ++i)
    reader.by_name_[reader.entries_[i].name] = i;
  return reader;
}

const safetensors_entry* safetensors_reader::find(std::string_view name) const noexcept {
  auto position = by_name_.find(name);
  return position == by_name_.end() ? nullptr : &entries_[position->second];
}

result<const safetensors_entry*> safetensors_reader::must_find(std::string_view name) const {
  const auto* entry = find(name);
  if (!entry)
    return no_such_tensor(path(), name, entries_);
  if (entry->type == dtype::none)
    return failure(error_kind::unimplemented, path(), ": tensor '", name, "' has elements of ",
                   entry->stored_as, ", a type that Troupe does not have");
  return entry;
}

status safetensors_reader::damaged(const safetensors_entry& entry, std::string_view reason) const {
  return failure(error_kind::data_loss, path(), ": tensor '", entry.name, "': ", reason);
}

status safetensors_reader::read_bytes(const safetensors_entry& entry, uint64_t offset,
                                      std::span<std::byte> target, checksum_stream* sum) const {
  auto position = data_begin_ + entry.begin + offset;
  if (!sum)
    return file_->read(position, target);
  while (!target.empty()) {
    auto part = target.first(std::min(part_bytes, target.size()));
    TROUPE_TRY(file_->read(position, part));
    sum->add(part);
    position += part.size();
    target = target.subspan(part.size());
  }
  return {};
}

status safetensors_reader::check_sum(const safetensors_entry& entry, const checksum_stream& sum,
                                     std::optional<uint64_t> expected) const {
  if (!expected || sum.value() == *expected)
    return {};
  return damaged(entry, concat("its checksum is ", to_hex(sum.value()), ", and should be ",
                               to_hex(*expected), ": its bytes have changed"));
}

result<tensor> safetensors_reader::read(std::string_view name, std::optional<uint64_t> checksum,
                                        allocator& memory) const {
  TROUPE_ASSIGN(const auto* entry, must_find(name));
  if (entry->type == dtype::string)
    return read_strings(*entry, entry->dims, 0, checksum, memory);
  TROUPE_ASSIGN(auto value, tensor::make(entry->type, entry->dims, memory));
  checksum_stream sum;
  TROUPE_TRY(read_bytes(*entry, 0, {static_cast<std::byte*>(value.raw()), value.bytes()},
                        checksum ? &sum : nullptr));
  TROUPE_TRY(check_sum(*entry, sum, checksum));
  if (entry->type == dtype::boolean) {
    std::span bytes{static_cast<const uint8_t*>(value.raw()), value.bytes()};
    if (std::ranges::any_of(bytes, [](uint8_t byte) { return byte > 1; }))
      return damaged(*entry, "a byte of a BOOL is neither 0 nor 1");
  }
  return value;
}

result<tensor> safetensors_reader::read_strings(const safetensors_entry& entry, const shape& dims,
                                                uint64_t first, std::optional<uint64_t> checksum,
                                                allocator& memory) const {
  // Reads lengths and strings once, so that the returned bytes are those that were hashed.
  const auto total = static_cast<uint64_t>(entry.dims.elements());
  const auto count = static_cast<uint64_t>(dims.elements());
  const auto text_bytes = entry.end - entry.begin - total * 8;
  std::vector<uint64_t> lengths(total);
  checksum_stream sum;
  TROUPE_TRY(read_bytes(entry, 0, std::as_writable_bytes(std::span{lengths}), &sum));
  uint64_t end = 0, part_begin = 0, part_end = 0;
  for (uint64_t i = 0; i < total; ++i) {
    if (lengths[i] > text_bytes - end)
      return damaged(entry, concat("the length of string ", i, " goes beyond its bytes"));
    if (i == first)
      part_begin = end;
    end += lengths[i];
    if (i + 1 == first + count)
      part_end = end;
  }
  if (end != text_bytes)
    return damaged(entry, concat("its strings take ", end, " of its ", text_bytes, " bytes"));
  std::string text(count == 0 ? 0 : part_end - part_begin, '\0');
  TROUPE_TRY(
      read_bytes(entry, total * 8 + part_begin, std::as_writable_bytes(std::span{text}), &sum));
  TROUPE_TRY(check_sum(entry, sum, checksum));
  TROUPE_ASSIGN(auto strings, tensor::make(dtype::string, dims, memory));
  for (uint64_t i = 0, position = 0; i < count; position += lengths[first + i], ++i)
    strings.data<std::string>()[i].assign(text, position, lengths[first + i]);
  return strings;
}

result<tensor> safetensors_reader::read_rows(std::string_view name, int64_t first, int64_t count,
                                             allocator& memory) const {
  TROUPE_ASSIGN(const auto* entry, must_find(name));
  if (entry->dims.rank() == 0)
    return invalid(path(), ": tensor '", name, "' is a scalar and has no rows");
  const auto rows = entry->dims[0];
  if (first < 0 || count < 0 || first > rows || count > rows - first)
    return invalid(path(), ": tensor '", name, "' has ", rows, " rows, not ", count, " from ",
                   first, " on");
  auto dims = entry->dims;
  dims.set(0, count);
  const auto row = rows == 0 ? 0 : static_cast<uint64_t>(entry->dims.elements() / rows);
  const auto skipped = row * static_cast<uint64_t>(first);
  if (entry->type == dtype::string)
    return read_strings(*entry, dims, skipped, {}, memory);
  TROUPE_ASSIGN(auto value, tensor::make(entry->type, dims, memory));
  std::span bytes{static_cast<std::byte*>(value.raw()), value.bytes()};
  TROUPE_TRY(read_bytes(*entry, skipped * size_of(entry->type), bytes));
  if (entry->type == dtype::boolean &&
      std::ranges::any_of(bytes, [](std::byte byte) { return byte > std::byte{1}; }))
    return damaged(*entry, "a byte of a BOOL is neither 0 nor 1");
  return value;
}

result<uint64_t> safetensors_reader::checksum(std::string_view name) const {
  const auto* entry = find(name);
  if (!entry)
    return no_such_tensor(path(), name, entries_);
  checksum_stream sum;
  std::vector<std::byte> part(std::min<uint64_t>(part_bytes, entry->end - entry->begin));
  for (uint64_t offset = 0; offset < entry->end - entry->begin; offset += part.size()) {
    auto bytes =
        std::span{part}.first(std::min<uint64_t>(part.size(), entry->end - entry->begin - offset));
    TROUPE_TRY(read_bytes(*entry, offset, bytes, &sum));
  }
  return sum.value();
}

} // namespace troupe
