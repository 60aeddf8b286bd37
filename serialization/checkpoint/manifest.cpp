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
  return hex_text(sum.value());
}

// Text as it is, and other bytes as digits.
json bytes_json(const std::string& bytes) {
  if (is_utf8(bytes))
    return bytes;
  std::string digits;
  for (auto each : bytes) {
    digits += "0123456789abcdef"[static_cast<uint8_t>(each) >> 4];
    digits += "0123456789abcdef"[static_cast<uint8_t>(each) & 15];
  }
  return {{"hex", digits}};
}

result<std::string> bytes_from(const json& from) {
  if (const auto* text = from.get_ptr<const std::string*>())
    return *text;
  const auto* digits = from.is_object() ? json_member<std::string>(from, "hex") : nullptr;
  if (!digits || digits->size() % 2 != 0)
    return invalid("expected text");
  std::string bytes;
  auto value = [](char c) { return c >= 'a' && c <= 'f' ? c - 'a' + 10 : c - '0'; };
  if (digits->find_first_not_of("0123456789abcdef") != digits->npos)
    return invalid("expected digits of bytes");
  for (size_t i = 0; i < digits->size(); i += 2)
    bytes += static_cast<char>(value((*digits)[i]) << 4 | value((*digits)[i + 1]));
  return bytes;
}

json extents_json(std::span<const int64_t> extents) {
  auto all = json::array();
  for (auto each : extents)
    all.push_back(each);
  return all;
}

result<std::vector<int64_t>> extents_from(const json& of, const char* name) {
  const auto* list = json_member<json::array_t>(of, name);
  if (!list)
    return invalid("expected a list '", name, "'");
  std::vector<int64_t> all;
  for (const auto& each : *list) {
    const auto* number = each.get_ptr<const json::number_unsigned_t*>();
    if (!number || *number > uint64_t{1} << 62)
      return invalid("'", name, "' has ", json_text(each));
    all.push_back(static_cast<int64_t>(*number));
  }
  return all;
}

result<shape> shape_from(const json& of, const char* name) {
  TROUPE_ASSIGN(auto extents, extents_from(of, name));
  return shape::make(extents);
}

// What writing and reading check of one tensor.
status check_tensor(const manifest_tensor& one) {
  if (one.type == dtype::none)
    return invalid("it has no type");
  if (one.file.empty() || one.file.find('/') != one.file.npos || one.file == "." ||
      one.file == ".." || one.file.find('\0') != one.file.npos)
    return invalid("'", one.file, "' is no name of a file beside the manifest");
  if (one.slice)
    TROUPE_TRY(check_slice(one.slice->whole, one.slice->offset, one.dims));
  return {};
}

status check_all(const checkpoint_manifest& manifest) {
  for (const auto& one : manifest.tensors)
    TROUPE_TRY(check_tensor(one).within(concat("tensor '", one.name, "'")));
  std::map<std::string_view, std::vector<const manifest_tensor*>> by_name;
  for (const auto& one : manifest.tensors)
    by_name[one.name].push_back(&one);
  for (const auto& [name, all] : by_name) {
    const auto& first = *all.front();
    if (all.size() > 1 && !first.slice)
      return invalid("tensor '", name, "' is there twice");
    if (!first.slice)
      continue;
    std::vector<tensor_slice> slices;
    for (const auto* one : all) {
      if (!one->slice || one->slice->whole != first.slice->whole || one->type != first.type)
        return invalid("tensor '", name, "' has slices of different wholes");
      slices.push_back({one->slice->offset, one->dims});
    }
    TROUPE_TRY(check_cover(first.slice->whole, slices).within(concat("tensor '", name, "'")));
  }
  return {};
}

json tensor_json(const manifest_tensor& one) {
  json made{{"name", one.name},   {"type", to_string(one.type)},
            {"file", one.file},   {"shape", extents_json(one.dims.extents())},
            {"bytes", one.bytes}, {"checksum", hex_text(one.checksum)}};
  if (one.stored_as != one.name)
    made["stored_as"] = one.stored_as;
  if (one.slice) {
    made["whole"] = extents_json(one.slice->whole.extents());
    made["offset"] = extents_json(one.slice->offset);
  }
  return made;
}

result<manifest_tensor> tensor_from(const json& from) {
  manifest_tensor one;
  one.name = *json_member<std::string>(from, "name");
  const auto* type = json_member<std::string>(from, "type");
  const auto* file = json_member<std::string>(from, "file");
  const auto* bytes = json_member<json::number_unsigned_t>(from, "bytes");
  const auto* sum = json_member<std::string>(from, "checksum");
  auto known = type ? dtype_from(*type).value_or(dtype::none) : dtype::none;
  auto number = sum ? parse_hex(*sum) : std::nullopt;
  if (!any_type.contains(known))
    return invalid("expected a 'type'", type ? concat(", not '", *type, "'") : "");
  if (!file || !bytes || !number)
    return invalid("expected 'file', 'bytes' and 'checksum' (16 digits)");
  one.type = known;
  one.file = *file;
  one.bytes = *bytes;
  one.checksum = *number;
  const auto* stored_as = json_member<std::string>(from, "stored_as");
  one.stored_as = stored_as ? *stored_as : one.name;
  TROUPE_ASSIGN(one.dims, shape_from(from, "shape"));
  if (from.contains("whole")) {
    one.slice.emplace();
    TROUPE_ASSIGN(one.slice->whole, shape_from(from, "whole"));
    TROUPE_ASSIGN(one.slice->offset, extents_from(from, "offset"));
  }
  return one;
}

result<std::map<std::string, std::string>> texts_from(const json& of, const char* name) {
  const auto* all = json_member<json::object_t>(of, name);
  if (!all)
    return invalid("expected an object '", name, "'");
  std::map<std::string, std::string> made;
  for (const auto& [key, value] : *all) {
    auto text = bytes_from(value);
    if (!text)
      return text.status().within(concat("'", key, "' of '", name, "'"));
    made[key] = *std::move(text);
  }
  return made;
}

result<checkpoint_manifest> content_from(const json& from) {
  checkpoint_manifest made;
  const auto* step = json_member<json::number_integer_t>(from, "step");
  const auto* digest = json_member<std::string>(from, "graph");
  const auto* tensors = json_member<json::array_t>(from, "tensors");
  const auto* incarnations = json_member<json::object_t>(from, "incarnations");
  if (!step || !digest || !tensors || !incarnations)
    return invalid("expected 'step', 'graph', 'tensors' and 'incarnations'");
  made.step = *step;
  made.graph_digest = *digest;
  TROUPE_ASSIGN(made.positions, texts_from(from, "positions"));
  TROUPE_ASSIGN(made.made, texts_from(from, "made"));
  for (const auto& [task, value] : *incarnations) {
    const auto* text = value.get_ptr<const std::string*>();
    auto number = text ? parse_hex(*text) : std::nullopt;
    if (!number)
      return invalid("the incarnation of '", task, "' is no number of 16 digits");
    made.incarnations[task] = *number;
  }
  for (const auto& each : *tensors) {
    const auto* name = each.is_object() ? json_member<std::string>(each, "name") : nullptr;
    if (!name)
      return invalid("tensor ", made.tensors.size(), " has no name");
    auto one = tensor_from(each);
    if (!one)
      return one.status().within(concat("tensor '", *name, "'"));
    made.tensors.push_back(*std::move(one));
  }
  TROUPE_TRY(check_all(made));
  return made;
}

result<checkpoint_manifest> parse(std::string_view text) {
  TROUPE_ASSIGN(auto root, parse_strict_json(text, manifest_depth));
  const auto* what = root.is_object() ? json_member<std::string>(root, "troupe") : nullptr;
  if (!what || *what != kind)
    return invalid("is no manifest of a checkpoint: expected \"troupe\": \"", kind, '"');
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
  if (auto found = checksum_text(*content); found != *sum)
    return invalid("the checksum of its content is ", found, ", and should be ", *sum,
                   ": it was changed or damaged");
  return content_from(*content);
}

} // namespace

result<std::string> manifest_json(const checkpoint_manifest& manifest) {
  TROUPE_TRY(check_all(manifest));
  auto content = json::object();
  auto texts = [](const std::map<std::string, std::string>& all) {
    auto made = json::object();
    for (const auto& [key, value] : all)
      made[key] = bytes_json(value);
    return made;
  };
  content["step"] = manifest.step;
  content["graph"] = manifest.graph_digest;
  content["positions"] = texts(manifest.positions);
  content["made"] = texts(manifest.made);
  auto incarnations = json::object();
  for (const auto& [task, number] : manifest.incarnations)
    incarnations[task] = hex_text(number);
  content["incarnations"] = std::move(incarnations);
  std::vector<const manifest_tensor*> order;
  for (const auto& one : manifest.tensors)
    order.push_back(&one);
  std::ranges::stable_sort(order, [](const auto* a, const auto* b) {
    if (a->name != b->name || !a->slice || !b->slice)
      return a->name < b->name;
    return a->slice->offset < b->slice->offset;
  });
  auto tensors = json::array();
  for (const auto* one : order)
    tensors.push_back(tensor_json(*one));
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
  auto made = parse(text);
  if (made)
    return made;
  auto kind = made.status().kind();
  return failure(kind == error_kind::invalid_argument ? error_kind::data_loss : kind, path, ": ",
                 made.status().message());
}

status write_manifest(file_system& files, const std::string& path,
                      const checkpoint_manifest& manifest) {
  auto text = manifest_json(manifest);
  if (!text)
    return text.status().within(path);
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
                           allocator& from) {
  const auto* found = file.find(entry.stored_as);
  auto bytes = found ? found->end - found->begin : 0;
  if (!found || found->type != entry.type || found->dims != entry.dims || bytes != entry.bytes)
    return failure(error_kind::data_loss, file.path(), ": the manifest says that tensor '",
                   entry.stored_as, "' is ", entry.type, entry.dims, " of ", entry.bytes,
                   " bytes, and there is ",
                   found ? concat(found->type, found->dims, " of ", bytes) : "none");
  return file.read(entry.stored_as, entry.checksum, from);
}

} // namespace troupe
