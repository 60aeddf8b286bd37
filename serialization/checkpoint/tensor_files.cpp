#include "troupe/serialization/checkpoint/tensor_files.hpp"

#include "troupe/serialization/arrays/npz.hpp"
#include "troupe/serialization/checkpoint/checkpoint_folder.hpp"
#include "troupe/serialization/checkpoint/checkpoint_state.hpp"
#include "troupe/serialization/tensor_bundle/no_such_tensor.hpp"
#include "troupe/serialization/tensor_bundle/slice_file.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace troupe {

template <class Reader>
struct tensor_files::source_of final : source {
  explicit source_of(Reader opened) : reader(std::move(opened)) {}
  result<tensor> read(std::string_view name) const override { return reader.read(name); }
  Reader reader;
};

template <class Reader>
result<std::unique_ptr<tensor_files::source>> tensor_files::keep(result<Reader> opened) {
  TROUPE_TRY(opened.status());
  return std::unique_ptr<source>{std::make_unique<source_of<Reader>>(*std::move(opened))};
}

namespace {

bool exists(file_system& files, const std::string& path) { return files.inspect(path).ok(); }

std::vector<tensor_files::entry> entries_of(const auto& tensors) {
  std::vector<tensor_files::entry> entries;
  for (const auto& item : tensors)
    entries.push_back({item.name, item.type, item.dims});
  return entries;
}

std::vector<tensor_files::entry> entries_of(const checkpoint_reader& reader) {
  std::map<std::string, tensor_files::entry> by_name; // the slices of a tensor are one entry
  for (const auto& item : reader.manifest().tensors)
    by_name[item.name] = {item.name, item.type, item.slice ? item.slice->full_shape : item.dims};
  std::vector<tensor_files::entry> entries;
  for (auto& [name, item] : by_name)
    entries.push_back(std::move(item));
  return entries;
}

std::vector<tensor_files::entry> entries_of(const npz_reader& reader) {
  std::vector<tensor_files::entry> entries;
  for (auto& name : reader.names()) {
    tensor_files::entry item{std::move(name)};
    // An array of a type that Troupe does not have fails when it is read.
    if (auto described = reader.describe(item.name))
      std::tie(item.type, item.dims) = *std::move(described);
    entries.push_back(std::move(item));
  }
  return entries;
}

// Removes a suffix ".data-00000-of-00001".
std::string_view without_shard(std::string_view path) {
  auto position = path.rfind(".data-");
  auto shard = position == path.npos ? std::string_view{} : path.substr(position);
  return matches_pattern(shard, ".data-?????"
                                "-of-?????")
             ? path.substr(0, position)
             : path;
}

// Returns the prefix of a checkpoint if `path` is one of its files; else `path`.
std::string prefix_of(file_system& files, const std::string& path) {
  std::string_view prefix = without_shard(path);
  for (std::string_view ending : {".index", ".meta"})
    if (path.ends_with(ending))
      prefix = std::string_view{path}.substr(0, path.size() - ending.size());
  std::string named{prefix};
  auto is_checkpoint = exists(files, named + ".index") || (named != path && exists(files, named));
  return is_checkpoint ? named : path;
}

// The prefix of a checkpoint in a folder of TensorFlow: that of a SavedModel, or the latest.
result<std::string> prefix_in(file_system& files, const std::string& folder) {
  for (const auto* name : {"saved_model.pb", "saved_model.pbtxt"})
    if (exists(files, path_in(folder, name)))
      return path_in(path_in(folder, "variables"), "variables");
  return latest_tensorflow_checkpoint(files, folder);
}

} // namespace

// Tries Troupe's format first: a checkpoint in TensorFlow's format may have a manifest beside it.
result<tensor_files> tensor_files::open(file_system& files, const std::string& path) {
  tensor_files opened_files;
  opened_files.path_ = path;
  auto keep_reader = [&](auto opened, std::string_view format, auto list_entries) -> status {
    TROUPE_TRY(opened.status());
    opened_files.format_ = format;
    opened_files.entries_ = list_entries(*opened);
    TROUPE_ASSIGN(opened_files.source_, keep(std::move(opened)));
    return {};
  };
  auto listed = [](const auto& reader) { return entries_of(reader.tensors()); };
  auto outcome = [&]() -> status {
    if (path.ends_with(".safetensors"))
      return keep_reader(safetensors_reader::open(files, path), "safetensors", listed);
    if (path.ends_with(".npz"))
      return keep_reader(npz_reader::open(files, path), "npz",
                         [](const npz_reader& reader) { return entries_of(reader); });
    auto keep_tensorflow = [&](const std::string& prefix) {
      opened_files.path_ = prefix;
      if (exists(files, prefix + ".index"))
        return keep_reader(tensor_bundle_reader::open(files, prefix), "TensorFlow's, version 2",
                           listed);
      return keep_reader(slice_file_reader::open(files, prefix), "TensorFlow's, version 1", listed);
    };
    auto name = name_of_file(path);
    if (name == "saved_model.pb" || name == "saved_model.pbtxt") {
      TROUPE_ASSIGN(auto prefix, prefix_in(files, folder_of(path)));
      return keep_tensorflow(prefix);
    }
    auto prefix = prefix_of(files, path);
    if (exists(files, prefix + ".index"))
      return keep_tensorflow(prefix);
    TROUPE_ASSIGN(auto info, files.inspect(prefix));
    if (!info.is_folder && prefix.ends_with(".meta"))
      return failure(error_kind::not_found, path,
                     ": is the graph of a checkpoint that is not beside it (there is no ",
                     path.substr(0, path.size() - 5), ".index)");
    if (!info.is_folder)
      return keep_tensorflow(prefix);
    if (!exists(files, path_in(path, "manifest.json"))) {
      checkpoint_folder checkpoints{files, path};
      auto latest = checkpoints.latest();
      if (!latest && latest.status().kind() == error_kind::not_found) {
        TROUPE_ASSIGN(auto prefix_in_folder, prefix_in(files, path));
        return keep_tensorflow(prefix_in_folder);
      }
      TROUPE_TRY(latest.status());
      opened_files.path_ = checkpoints.path_of(*latest);
    }
    return keep_reader(checkpoint_reader::open(files, opened_files.path_), "a checkpoint of troupe",
                       [](const checkpoint_reader& reader) { return entries_of(reader); });
  }();
  TROUPE_TRY(std::move(outcome));
  std::ranges::sort(opened_files.entries_, {}, &entry::name);
  return opened_files;
}

const tensor_files::entry* tensor_files::find(std::string_view name) const noexcept {
  auto position = std::ranges::lower_bound(entries_, name, {}, &entry::name);
  return position == entries_.end() || position->name != name ? nullptr : &*position;
}

result<tensor> tensor_files::read(std::string_view name) const {
  if (!find(name))
    return no_such_tensor(path_, name, entries_);
  return source_->read(name);
}

status tensor_files::verify() const {
  for (const auto& named : entries_)
    TROUPE_TRY(read(named.name).status());
  return {};
}

} // namespace troupe
