#include "troupe/serialization/checkpoint/manifest.hpp"

#include "troupe/serialization/storage/checksum.hpp"
#include "troupe/serialization/storage/slices.hpp"
#include "troupe/serialization/storage/strict_json.hpp"

#include <algorithm>

namespace troupe {
namespace {

using nlohmann::json;

constexpr std::string_view kind = "checkpoint";
constexpr int manifest_depth = 6;
constexpr uint64_t largest_manifest = uint64_t{1} << 30;

std::string checksum_text(const json& content) {
  auto text = json_text(content);
  checksum_stream sum;
  sum.add(std::as_bytes(std::span{text}));
  return to_hex(sum.value());
}

// Writes UTF-8 as text, and other bytes as hexadecimal digits.
json bytes_json(const std::string& bytes) {
  if (is_utf8(bytes))
    return bytes;
  std::string digits;
  for (auto byte : bytes) {
    digits += "0123456789abcdef"[static_cast<uint8_t>(byte) >> 4];
    digits += "0123456789abcdef"[static_cast<uint8_t>(byte) & 15];
  }
  return {{"hex", digits}};
}

result<std::string> bytes_from(const json& value) {
  if (const auto* text = value.get_ptr<const std::string*>())
    return *text;
  const auto* digits = value.is_object() ? json_member<std::string>(value, "hex") : nullptr;
  if (!digits || digits->size() % 2 != 0)
    return invalid("expected text");
  std::string bytes;
  auto digit_value = [](char c) { return c >= 'a' && c <= 'f' ? c - 'a' + 10 : c - '0'; };
  if (digits->find_first_not_of("0123456789abcdef") != digits->npos)
    return invalid("expected digits of bytes");
  for (size_t i = 0; i < digits->size(); i += 2)
    bytes += static_cast<char>(digit_value((*digits)[i]) << 4 | digit_value((*digits)[i + 1]));
  return bytes;
}

json extents_json(std::span<const int64_t> extents) {
  auto list = json::array();
  for (auto extent : extents)
    list.push_back(extent);
  return list;
}

result<std::vector<int64_t>> extents_from(const json& object, const char* name) {
  const auto* list = json_member<json::array_t>(object, name);
  if (!list)
    return invalid("expected a list '", name, "'");
  std::vector<int64_t> extents;
  for (const auto& item : *list) {
    const auto* number = item.get_ptr<const json::number_unsigned_t*>();
    if (!number || *number > uint64_t{1} << 62)
      return invalid("'", name, "' has ", json_text(item));
    extents.push_back(static_cast<int64_t>(*number));
  }
  return extents;
}

result<shape> shape_from(const json& object, const char* name) {
  TROUPE_ASSIGN(auto extents, extents_from(object, name));
  return shape::make(extents);
}

// The checks of a tensor for both writing and reading.
status check_tensor(const manifest_tensor& entry) {
  if (entry.type == dtype::none)
    return invalid("it has no type");
  if (entry.file.empty() || entry.file.find('/') != entry.file.npos || entry.file == "." ||
      entry.file == ".." || entry.file.find('\0') != entry.file.npos)
    return invalid("'", entry.file, "' is not a file name without folders");
  if (entry.slice)
    TROUPE_TRY(check_slice(entry.slice->full_shape, entry.slice->offset, entry.dims));
  return {};
}

status check_all(const checkpoint_manifest& manifest) {
  for (const auto& entry : manifest.tensors)
    TROUPE_TRY(check_tensor(entry).with_context(concat("tensor '", entry.name, "'")));
  std::map<std::string_view, std::vector<const manifest_tensor*>> by_name;
  for (const auto& entry : manifest.tensors)
    by_name[entry.name].push_back(&entry);
  for (const auto& [name, entries] : by_name) {
    const auto& first = *entries.front();
    if (entries.size() > 1 && !first.slice)
      return invalid("tensor '", name, "' is listed twice");
    if (!first.slice)
      continue;
    std::vector<tensor_slice> slices;
    for (const auto* entry : entries) {
      if (!entry->slice || entry->slice->full_shape != first.slice->full_shape ||
          entry->type != first.type)
        return invalid("tensor '", name, "' has slices of different wholes");
      slices.push_back({entry->slice->offset, entry->dims});
    }
    TROUPE_TRY(
        check_cover(first.slice->full_shape, slices).with_context(concat("tensor '", name, "'")));
  }
  return {};
}

json tensor_json(const manifest_tensor& entry) {
  json object{{"name", entry.name},   {"type", to_string(entry.type)},
              {"file", entry.file},   {"shape", extents_json(entry.dims.extents())},
              {"bytes", entry.bytes}, {"checksum", to_hex(entry.checksum)}};
  if (entry.stored_as != entry.name)
    object["stored_as"] = entry.stored_as;
  if (entry.slice) {
    object["whole"] = extents_json(entry.slice->full_shape.extents());
    object["offset"] = extents_json(entry.slice->offset);
  }
  return object;
}

result<manifest_tensor> tensor_from(const json& object) {
  manifest_tensor entry;
  entry.name = *json_member<std::string>(object, "name");
  const auto* type = json_member<std::string>(object, "type");
  const auto* file = json_member<std::string>(object, "file");
  const auto* bytes = json_member<json::number_unsigned_t>(object, "bytes");
  const auto* sum = json_member<std::string>(object, "checksum");
  auto known_type = type ? dtype_from(*type).value_or(dtype::none) : dtype::none;
  auto number = sum ? parse_hex(*sum) : std::nullopt;
  if (!any_type.contains(known_type))
    return invalid("expected a 'type'", type ? concat(", not '", *type, "'") : "");
  if (!file || !bytes || !number)
    return invalid("expected 'file', 'bytes' and 'checksum' (16 digits)");
  entry.type = known_type;
  entry.file = *file;
  entry.bytes = *bytes;
  entry.checksum = *number;
  const auto* stored_as = json_member<std::string>(object, "stored_as");
  entry.stored_as = stored_as ? *stored_as : entry.name;
  TROUPE_ASSIGN(entry.dims, shape_from(object, "shape"));
  if (object.contains("whole")) {
    entry.slice.emplace();
    TROUPE_ASSIGN(entry.slice->full_shape, shape_from(object, "whole"));
    TROUPE_ASSIGN(entry.slice->offset, extents_from(object, "offset"));
  }
  return entry;
}

result<std::map<std::string, std::string>> texts_from(const json& object, const char* name) {
  const auto* members = json_member<json::object_t>(object, name);
  if (!members)
    return invalid("expected an object '", name, "'");
  std::map<std::string, std::string> texts;
  for (const auto& [key, value] : *members) {
    auto text = bytes_from(value);
    if (!text)
      return text.status().with_context(concat("'", key, "' of '", name, "'"));
    texts[key] = *std::move(text);
  }
  return texts;
}

result<checkpoint_manifest> content_from(const json& object) {
  checkpoint_manifest manifest;
  const auto* step = json_member<json::number_integer_t>(object, "step");
  const auto* digest = json_member<std::string>(object, "graph");
  const auto* tensors = json_member<json::array_t>(object, "tensors");
  const auto* incarnations = json_member<json::object_t>(object, "incarnations");
  if (!step || !digest || !tensors || !incarnations)
    return invalid("expected 'step', 'graph', 'tensors' and 'incarnations'");
  manifest.step = *step;
  manifest.graph_digest = *digest;
  TROUPE_ASSIGN(manifest.positions, texts_from(object, "positions"));
  TROUPE_ASSIGN(manifest.description, texts_from(object, "made"));
  for (const auto& [task, value] : *incarnations) {
    const auto* text = value.get_ptr<const std::string*>();
    auto number = text ? parse_hex(*text) : std::nullopt;
    if (!number)
      return invalid("the incarnation of '", task, "' is not a hexadecimal number of 16 digits");
    manifest.incarnations[task] = *number;
  }
  for (const auto& item : *tensors) {
    const auto* name = item.is_object() ? json_member<std::string>(item, "name") : nullptr;
    if (!name)
      return invalid("tensor ", manifest.tensors.size(), " has no name");
    auto entry = tensor_from(item);
    if (!entry)
      return entry.status().with_context(concat("tensor '", *name, "'"));
    manifest.tensors.push_back(*std::move(entry));
  }
  TROUPE_TRY(check_all(manifest));
  return manifest;
}

result<checkpoint_manifest> parse_manifest_text(std::string_view text) {
  TROUPE_ASSIGN(auto root, parse_strict_json(text, manifest_depth));
  const auto* file_kind = root.is_object() ? json_member<std::string>(root, "troupe") : nullptr;
  if (!file_kind || *file_kind != kind)
    return invalid("is not the manifest of a checkpoint: expected \"troupe\": \"", kind, '"');
  const auto* version = json_member<json::number_unsigned_t>(root, "version");
  if (!version || *version == 0)
    return invalid("expected a version");
  if (*version > manifest_version)
    return failure(error_kind::unimplemented, "has version ", *version,
                   ", and this Troupe reads versions up to ", manifest_version,
                   "; read it with a newer one");
  const auto* sum = json_member<std::string>(root, "checksum");
  auto content = root.find("content");
  if (!sum || content == root.end() || !content->is_object())
    return invalid("expected 'content' and its 'checksum'");
  if (auto actual = checksum_text(*content); actual != *sum)
    return invalid("the checksum of its content is ", actual, ", and should be ", *sum,
                   ": it was changed or damaged");
  return content_from(*content);
}

} // namespace

result<std::string> manifest_json(const checkpoint_manifest& manifest) {
  TROUPE_TRY(check_all(manifest));
  auto content = json::object();
  auto texts = [](const std::map<std::string, std::string>& texts_by_key) {
    auto object = json::object();
    for (const auto& [key, value] : texts_by_key)
      object[key] = bytes_json(value);
    return object;
  };
  content["step"] = manifest.step;
  content["graph"] = manifest.graph_digest;
  content["positions"] = texts(manifest.positions);
  content["made"] = texts(manifest.description);
  auto incarnations = json::object();
  for (const auto& [task, number] : manifest.incarnations)
    incarnations[task] = to_hex(number);
  content["incarnations"] = std::move(incarnations);
  std::vector<const manifest_tensor*> order;
  for (const auto& entry : manifest.tensors)
    order.push_back(&entry);
  std::ranges::stable_sort(order, [](const auto* a, const auto* b) {
    if (a->name != b->name || !a->slice || !b->slice)
      return a->name < b->name;
    return a->slice->offset < b->slice->offset;
  });
  auto tensors = json::array();
  for (const auto* entry : order)
    tensors.push_back(tensor_json(*entry));
  content["tensors"] = std::move(tensors);
  json root{{"troupe", kind}, {"version", manifest_version}, {"checksum", checksum_text(content)}};
  root["content"] = std::move(content);
  try {
    return root.dump(1) + '\n';
  } catch (const json::exception&) {
    return invalid("a name in the manifest of a checkpoint is no UTF-8");
  }
}

result<checkpoint_manifest> parse_manifest(std::string_view text, const std::string& path) {
  auto parsed = parse_manifest_text(text);
  if (parsed)
    return parsed;
  auto kind = parsed.status().kind();
  return failure(kind == error_kind::invalid_argument ? error_kind::data_loss : kind, path, ": ",
                 parsed.status().message());
}

status write_manifest(file_system& files, const std::string& path,
                      const checkpoint_manifest& manifest) {
  auto text = manifest_json(manifest);
  if (!text)
    return text.status().with_context(path);
  return replace_file(files, path, *text);
}

result<checkpoint_manifest> read_manifest(file_system& files, const std::string& path) {
  TROUPE_ASSIGN(auto text, read_whole(files, path, largest_manifest));
  return parse_manifest(text, path);
}

manifest_tensor manifest_entry(const stored_tensor& stored, std::string file, dtype type,
                               const shape& dims) {
  return {.name = stored.name,
          .type = type,
          .dims = dims,
          .file = std::move(file),
          .stored_as = stored.name,
          .bytes = stored.bytes,
          .checksum = stored.checksum};
}

result<tensor> read_stored(const safetensors_reader& file, const manifest_tensor& entry,
                           allocator& memory) {
  const auto* stored = file.find(entry.stored_as);
  auto bytes = stored ? stored->end - stored->begin : 0;
  if (!stored || stored->type != entry.type || stored->dims != entry.dims || bytes != entry.bytes)
    return failure(error_kind::data_loss, file.path(), ": the manifest says that tensor '",
                   entry.stored_as, "' is ", entry.type, entry.dims, " of ", entry.bytes,
                   " bytes, and there is ",
                   stored ? concat(stored->type, stored->dims, " of ", bytes) : "none");
  return file.read(entry.stored_as, entry.checksum, memory);
}

} // namespace troupe
