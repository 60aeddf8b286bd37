#include "troupe/serialization/checkpoint/safetensors.hpp"
#include "troupe/serialization/checkpoint/safetensors_types.hpp"
#include "troupe/serialization/storage/strict_json.hpp"

#include <algorithm>

namespace troupe {
namespace {

using nlohmann::json;
using safetensors::length_bytes;
using safetensors::multiplied;
using safetensors::part_bytes;

constexpr size_t alignment = 64;

result<uint64_t> bytes_of(const safetensors_item& item) {
  const auto count = static_cast<uint64_t>(item.dims.elements());
  auto fixed = multiplied(count, item.type == dtype::string ? 8 : size_of(item.type));
  if (item.type == dtype::none || !fixed || item.text_bytes > uint64_t{1} << 62)
    return invalid("a ", item.type, item.dims, " cannot be stored");
  return *fixed + (item.type == dtype::string ? item.text_bytes : 0);
}

json stored_shape(const safetensors_item& item, uint64_t bytes) {
  auto dims = json::array();
  if (item.type == dtype::string)
    dims.push_back(bytes);
  else if (item.type == dtype::c128)
    dims = {item.dims.elements(), 2};
  else
    for (auto extent : item.dims)
      dims.push_back(extent);
  return dims;
}

status check_name(const std::string& name, std::string_view path) {
  if (!is_utf8(name))
    return invalid(path, ": the name '", json_text(name), "' is no UTF-8");
  if (name == "__metadata__")
    return invalid(path, ": no tensor can be called '__metadata__' in safetensors");
  return {};
}

} // namespace

safetensors_item safetensors_item::of(std::string name, const tensor& value) {
  safetensors_item item{std::move(name), value.type(), value.dims()};
  if (value.type() == dtype::string)
    for (const auto& text : value.values<std::string>())
      item.text_bytes += text.size();
  return item;
}

result<safetensors_writer> safetensors_writer::begin(file_system& files, const std::string& path,
                                                     std::vector<safetensors_item> items,
                                                     const safetensors_metadata& metadata) {
  for (const auto& item : items) {
    TROUPE_TRY(check_name(item.name, path));
    TROUPE_TRY(detail::as_status(bytes_of(item)).with_context(concat("tensor '", item.name, "'")));
  }
  std::ranges::sort(items, [](const auto& a, const auto& b) {
    auto key = [](const safetensors_item& item) {
      auto bytes = *bytes_of(item);
      auto element_bytes = item.type == dtype::string ? 1
                           : item.type == dtype::c128 ? 8
                                                      : size_of(item.type);
      return std::tuple{bytes % alignment != 0, -static_cast<int>(element_bytes)};
    };
    auto left = key(a), right = key(b);
    return left != right ? left < right : a.name < b.name;
  });
  auto header = json::object();
  auto stored_metadata = json::object();
  for (const auto& [key, value] : metadata) {
    if (key.starts_with(safetensors::mark))
      return invalid(path, ": metadata '", key, "' is reserved");
    if (!is_utf8(key) || !is_utf8(value))
      return invalid(path, ": metadata '", json_text(key), "' is no UTF-8");
    stored_metadata[key] = value;
  }
  uint64_t offset = 0;
  for (const auto& item : items) {
    auto bytes = *bytes_of(item);
    auto [position, is_new] =
        header.emplace(item.name, json{{"dtype", safetensors::stored_name(item.type)},
                                       {"shape", stored_shape(item, bytes)},
                                       {"data_offsets", json::array({offset, offset + bytes})}});
    if (!is_new)
      return invalid(path, ": two tensors are called '", item.name, "'");
    if (item.type == dtype::string || item.type == dtype::c128)
      stored_metadata[concat(safetensors::mark, item.name)] =
          safetensors::mark_text(item.type, item.dims);
    offset += bytes;
    if (offset > uint64_t{1} << 62)
      return invalid(path, ": the tensors are too large for one file");
  }
  if (!stored_metadata.empty())
    header["__metadata__"] = std::move(stored_metadata);
  auto text = header.dump();
  text.append((alignment - (length_bytes + text.size()) % alignment) % alignment, ' ');
  if (text.size() > max_safetensors_header)
    return failure(error_kind::resource_exhausted, path, ": the header has ", text.size(),
                   " bytes, and at most ", max_safetensors_header,
                   " are allowed; write more and smaller files");
  safetensors_writer writer;
  TROUPE_ASSIGN(writer.file_, files.create(path));
  uint64_t length = text.size();
  TROUPE_TRY(writer.file_->append(std::as_bytes(std::span{&length, 1})));
  TROUPE_TRY(writer.file_->append(text));
  writer.items_ = std::move(items);
  return writer;
}

status safetensors_writer::add_bytes(std::span<const std::byte> bytes) {
  // Racy updates may write to the memory meanwhile: the copy is both hashed and written.
  std::vector<std::byte> copy(std::min(part_bytes, bytes.size()));
  while (!bytes.empty()) {
    std::span part{copy.data(), std::min(part_bytes, bytes.size())};
    std::ranges::copy(bytes.first(part.size()), part.begin());
    sum_.add(part);
    TROUPE_TRY(file_->append(part));
    bytes = bytes.subspan(part.size());
  }
  return {};
}

status safetensors_writer::add_strings(const tensor& value) {
  std::string part;
  auto flush = [&](size_t min_bytes) -> status {
    if (part.size() < min_bytes)
      return {};
    TROUPE_TRY(add_bytes(std::as_bytes(std::span{part})));
    part.clear();
    return {};
  };
  for (const auto& text : value.values<std::string>()) {
    uint64_t length = text.size();
    part.append(reinterpret_cast<const char*>(&length), sizeof length);
    TROUPE_TRY(flush(part_bytes));
  }
  for (const auto& text : value.values<std::string>()) {
    if (text.size() >= part_bytes) {
      TROUPE_TRY(flush(1));
      TROUPE_TRY(add_bytes(std::as_bytes(std::span{text})));
    } else {
      part += text;
      TROUPE_TRY(flush(part_bytes));
    }
  }
  return flush(1);
}

status safetensors_writer::add(const tensor& value) {
  if (stored_.size() == items_.size())
    return invalid(file_->path(), ": all its ", items_.size(), " tensors are written");
  const auto& item = items_[stored_.size()];
  auto actual = safetensors_item::of(item.name, value);
  if (value.empty() || !value.on_host() || actual.type != item.type || actual.dims != item.dims ||
      actual.text_bytes != item.text_bytes)
    return invalid(file_->path(), ": tensor '", item.name, "' was announced as ", item.type,
                   item.dims, item.type == dtype::string ? " of another length" : "", ", but is ",
                   value.empty() ? "empty" : concat(actual.type, actual.dims),
                   value.on_host() ? "" : " on another device");
  sum_.restart();
  const auto begin = file_->size();
  if (value.type() == dtype::string)
    TROUPE_TRY(add_strings(value));
  else
    TROUPE_TRY(add_bytes({static_cast<const std::byte*>(value.raw()), value.bytes()}));
  stored_.push_back({item.name, file_->size() - begin, sum_.value()});
  return {};
}

result<std::vector<stored_tensor>> safetensors_writer::finish() {
  if (stored_.size() != items_.size())
    return failure(error_kind::failed_precondition, file_->path(), ": tensor '",
                   items_[stored_.size()].name, "' was announced, but is missing");
  TROUPE_TRY(file_->sync());
  return std::move(stored_);
}

result<std::vector<stored_tensor>>
write_safetensors(file_system& files, const std::string& path,
                  std::span<const std::pair<std::string, tensor>> tensors,
                  const safetensors_metadata& metadata) {
  std::vector<safetensors_item> items;
  std::map<std::string_view, const tensor*> by_name;
  for (const auto& [name, value] : tensors) {
    items.push_back(safetensors_item::of(name, value));
    by_name[name] = &value;
  }
  TROUPE_ASSIGN(auto writer, safetensors_writer::begin(files, path, std::move(items), metadata));
  for (size_t i = 0; i < tensors.size(); ++i)
    TROUPE_TRY(writer.add(*by_name.at(writer.order()[i].name)));
  return writer.finish();
}

} // namespace troupe
