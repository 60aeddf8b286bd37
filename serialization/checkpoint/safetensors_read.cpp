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

static_assert(std::endian::native == std::endian::little, "elements are stored as they lie here");

constexpr int header_depth = 3; // the header, a tensor, its shape

result<uint64_t> extent(const json& from) {
  const auto* number = from.get_ptr<const json::number_unsigned_t*>();
  if (!number || *number > uint64_t{1} << 62)
    return invalid("'", json_text(from), "' is no number that can stand there");
  return *number;
}

// Without the types of ours that others do not have.
result<safetensors_entry> read_entry(const std::string& name, const json& from) {
  const auto* type_name = from.is_object() ? json_member<std::string>(from, "dtype") : nullptr;
  const auto* extents = from.is_object() ? json_member<json::array_t>(from, "shape") : nullptr;
  const auto* offsets =
      from.is_object() ? json_member<json::array_t>(from, "data_offsets") : nullptr;
  if (!type_name || !extents || !offsets || offsets->size() != 2 || from.size() != 3)
    return invalid("expected dtype, shape and two data_offsets");
  const auto* type = safetensors::find_type(*type_name);
  if (!type)
    return failure(error_kind::unimplemented, "there is no element type '", *type_name, "'");
  std::vector<int64_t> dims;
  for (const auto& each : *extents) {
    TROUPE_ASSIGN(auto number, extent(each));
    dims.push_back(static_cast<int64_t>(number));
  }
  TROUPE_ASSIGN(auto known, shape::make(dims));
  TROUPE_ASSIGN(auto begin, extent((*offsets)[0]));
  TROUPE_ASSIGN(auto end, extent((*offsets)[1]));
  auto bits = multiplied(static_cast<uint64_t>(known.elements()), type->bits);
  if (end < begin || !bits || *bits % 8 != 0 || *bits / 8 != end - begin)
    return invalid(*type_name, known, " does not take the bytes from ", begin, " to ", end);
  return safetensors_entry{name, type->type, known, *type_name, begin, end};
}

// Gives an entry the type and shape that a mark says.
status apply_mark(safetensors_entry& entry, const std::string& text) {
  auto said = safetensors::parse_mark(text);
  if (!said)
    return invalid("'", text, "' is no type and shape");
  auto [type, dims] = *said;
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
    return invalid("the header is no object");
  header made;
  safetensors_metadata marks;
  for (const auto& [name, value] : root.items()) {
    if (name != "__metadata__") {
      auto entry = read_entry(name, value);
      if (!entry)
        return entry.status().within(concat("tensor '", name, "'"));
      made.entries.push_back(*std::move(entry));
      continue;
    }
    if (!value.is_object())
      return invalid("__metadata__ is no object");
    for (const auto& [key, each] : value.items()) {
      const auto* said = each.get_ptr<const std::string*>();
      if (!said)
        return invalid("'", key, "' of __metadata__ is no text");
      auto marked = key.starts_with(safetensors::mark);
      (marked ? marks : made.metadata)[marked ? key.substr(safetensors::mark.size()) : key] = *said;
    }
  }
  std::ranges::sort(made.entries, [](const auto& a, const auto& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  uint64_t end = 0;
  for (auto& each : made.entries) {
    if (each.begin != end)
      return invalid("tensor '", each.name, "' begins at byte ", each.begin, " of the data, ",
                     each.begin < end ? "within the one before, which ends at byte "
                                      : "behind a gap: the one before ends at byte ",
                     end);
    end = each.end;
    if (auto said = marks.find(each.name); said != marks.end()) {
      TROUPE_TRY(apply_mark(each, said->second).within(concat("tensor '", each.name, "'")));
      marks.erase(said);
    }
  }
  if (!marks.empty())
    return invalid("the metadata says what tensor '", marks.begin()->first,
                   "' is, which is not there");
  if (end != data_bytes)
    return invalid("tensors take ", end, " bytes, and ", data_bytes, " follow the header",
                   end > data_bytes ? ": it was cut off" : "");
  return made;
}

status as_damage(status what, const std::string& path) {
  auto kind = what.kind() == error_kind::invalid_argument || what.kind() == error_kind::out_of_range
                  ? error_kind::data_loss
                  : what.kind();
  return failure(kind, path, ": ", what.message());
}

} // namespace

result<safetensors_reader> safetensors_reader::open(file_system& files, const std::string& path) {
  safetensors_reader made;
  TROUPE_ASSIGN(made.file_, files.open(path));
  const auto size = made.file_->size();
  uint64_t length = 0;
  if (size < length_bytes)
    return failure(error_kind::data_loss, path, ": has ", size,
                   " bytes, which is too short for safetensors");
  TROUPE_TRY(made.file_->read(0, std::as_writable_bytes(std::span{&length, 1})));
  if (length > max_safetensors_header || length > size - length_bytes)
    return failure(error_kind::data_loss, path, ": its header would have ", length,
                   " bytes, and there are ", size - length_bytes, " (at most ",
                   max_safetensors_header, " are allowed): it was cut off, or is no safetensors");
  std::string text(length, '\0');
  TROUPE_TRY(made.file_->read(length_bytes, std::as_writable_bytes(std::span{text})));
  made.data_begin_ = length_bytes + length;
  auto parsed = parse_header(text, size - made.data_begin_);
  if (!parsed)
    return as_damage(parsed.status(), path);
  made.entries_ = std::move(parsed->entries);
  made.metadata_ = std::move(parsed->metadata);
  for (size_t i = 0; i < made.entries_.size(); ++i)
    made.by_name_[made.entries_[i].name] = i;
  return made;
}

const safetensors_entry* safetensors_reader::find(std::string_view name) const noexcept {
  auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &entries_[found->second];
}

result<const safetensors_entry*> safetensors_reader::must_find(std::string_view name) const {
  const auto* found = find(name);
  if (!found)
    return no_such_tensor(path(), name, entries_);
  if (found->type == dtype::none)
    return failure(error_kind::unimplemented, path(), ": tensor '", name, "' has elements of ",
                   found->stored_as, ", a type that we do not have");
  return found;
}

status safetensors_reader::damaged(const safetensors_entry& entry, std::string_view why) const {
  return failure(error_kind::data_loss, path(), ": tensor '", entry.name, "': ", why);
}

status safetensors_reader::read_bytes(const safetensors_entry& entry, uint64_t offset,
                                      std::span<std::byte> to, checksum_stream* sum) const {
  auto at = data_begin_ + entry.begin + offset;
  if (!sum)
    return file_->read(at, to);
  while (!to.empty()) {
    auto part = to.first(std::min(part_bytes, to.size()));
    TROUPE_TRY(file_->read(at, part));
    sum->add(part);
    at += part.size();
    to = to.subspan(part.size());
  }
  return {};
}

status safetensors_reader::check_sum(const safetensors_entry& entry, const checksum_stream& sum,
                                     std::optional<uint64_t> wanted) const {
  if (!wanted || sum.value() == *wanted)
    return {};
  return damaged(entry, concat("its checksum is ", hex_text(sum.value()), ", and should be ",
                               hex_text(*wanted), ": its bytes have changed"));
}

result<tensor> safetensors_reader::read(std::string_view name, std::optional<uint64_t> checksum,
                                        allocator& from) const {
  TROUPE_ASSIGN(const auto* entry, must_find(name));
  if (entry->type == dtype::string)
    return read_strings(*entry, entry->dims, 0, checksum, from);
  TROUPE_ASSIGN(auto made, tensor::make(entry->type, entry->dims, from));
  checksum_stream sum;
  TROUPE_TRY(read_bytes(*entry, 0, {static_cast<std::byte*>(made.raw()), made.bytes()},
                        checksum ? &sum : nullptr));
  TROUPE_TRY(check_sum(*entry, sum, checksum));
  if (entry->type == dtype::boolean) {
    std::span bytes{static_cast<const uint8_t*>(made.raw()), made.bytes()};
    if (std::ranges::any_of(bytes, [](uint8_t each) { return each > 1; }))
      return damaged(*entry, "a byte of a BOOL is neither 0 nor 1");
  }
  return made;
}

result<tensor> safetensors_reader::read_strings(const safetensors_entry& entry, const shape& dims,
                                                uint64_t first, std::optional<uint64_t> checksum,
                                                allocator& from) const {
  // Lengths and strings are read once: what is returned is what was hashed.
  const auto all = static_cast<uint64_t>(entry.dims.elements());
  const auto count = static_cast<uint64_t>(dims.elements());
  const auto text_bytes = entry.end - entry.begin - all * 8;
  std::vector<uint64_t> lengths(all);
  checksum_stream sum;
  TROUPE_TRY(read_bytes(entry, 0, std::as_writable_bytes(std::span{lengths}), &sum));
  uint64_t end = 0, part_begin = 0, part_end = 0;
  for (uint64_t i = 0; i < all; ++i) {
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
      read_bytes(entry, all * 8 + part_begin, std::as_writable_bytes(std::span{text}), &sum));
  TROUPE_TRY(check_sum(entry, sum, checksum));
  TROUPE_ASSIGN(auto made, tensor::make(dtype::string, dims, from));
  for (uint64_t i = 0, at = 0; i < count; at += lengths[first + i], ++i)
    made.data<std::string>()[i].assign(text, at, lengths[first + i]);
  return made;
}

result<tensor> safetensors_reader::read_rows(std::string_view name, int64_t first, int64_t count,
                                             allocator& from) const {
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
    return read_strings(*entry, dims, skipped, {}, from);
  TROUPE_ASSIGN(auto made, tensor::make(entry->type, dims, from));
  std::span bytes{static_cast<std::byte*>(made.raw()), made.bytes()};
  TROUPE_TRY(read_bytes(*entry, skipped * size_of(entry->type), bytes));
  if (entry->type == dtype::boolean &&
      std::ranges::any_of(bytes, [](std::byte each) { return each > std::byte{1}; }))
    return damaged(*entry, "a byte of a BOOL is neither 0 nor 1");
  return made;
}

result<uint64_t> safetensors_reader::checksum(std::string_view name) const {
  const auto* entry = find(name);
  if (!entry)
    return no_such_tensor(path(), name, entries_);
  checksum_stream sum;
  std::vector<std::byte> part(std::min<uint64_t>(part_bytes, entry->end - entry->begin));
  for (uint64_t at = 0; at < entry->end - entry->begin; at += part.size()) {
    auto bytes =
        std::span{part}.first(std::min<uint64_t>(part.size(), entry->end - entry->begin - at));
    TROUPE_TRY(read_bytes(*entry, at, bytes, &sum));
  }
  return sum.value();
}

} // namespace troupe
