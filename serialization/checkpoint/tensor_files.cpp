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
  explicit source_of(Reader from) : reader(std::move(from)) {}
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
  std::vector<tensor_files::entry> made;
  for (const auto& one : tensors)
    made.push_back({one.name, one.type, one.dims});
  return made;
}

std::vector<tensor_files::entry> entries_of(const checkpoint_reader& from) {
  std::map<std::string, tensor_files::entry> made; // slices are one tensor
  for (const auto& one : from.manifest().tensors)
    made[one.name] = {one.name, one.type, one.slice ? one.slice->whole : one.dims};
  std::vector<tensor_files::entry> found;
  for (auto& [name, one] : made)
    found.push_back(std::move(one));
  return found;
}

std::vector<tensor_files::entry> entries_of(const npz_reader& from) {
  std::vector<tensor_files::entry> made;
  for (auto& name : from.names()) {
    tensor_files::entry one{std::move(name)};
    // An array of a type that we do not have is an error when it is read.
    if (auto described = from.describe(one.name))
      std::tie(one.type, one.dims) = *std::move(described);
    made.push_back(std::move(one));
  }
  return made;
}

// Without ".data-00000-of-00001".
std::string_view without_shard(std::string_view path) {
  auto at = path.rfind(".data-");
  auto shard = at == path.npos ? std::string_view{} : path.substr(at);
  return matches_pattern(shard, ".data-?????"
                                "-of-?????")
             ? path.substr(0, at)
             : path;
}

// People name any of the files that belong to a checkpoint; its prefix is meant.
std::string prefix_of(file_system& files, const std::string& path) {
  std::string_view prefix = without_shard(path);
  for (std::string_view ending : {".index", ".meta"})
    if (path.ends_with(ending))
      prefix = std::string_view{path}.substr(0, path.size() - ending.size());
  std::string named{prefix};
  auto is_there = exists(files, named + ".index") || (named != path && exists(files, named));
  return is_there ? named : path;
}

// The checkpoint in a folder of TensorFlow's: that of a SavedModel, or the latest.
result<std::string> prefix_in(file_system& files, const std::string& folder) {
  for (const auto* name : {"saved_model.pb", "saved_model.pbtxt"})
    if (exists(files, path_in(folder, name)))
      return path_in(path_in(folder, "variables"), "variables");
  return latest_tensorflow_checkpoint(files, folder);
}

} // namespace

// Ours first: a checkpoint in TensorFlow's format has a manifest beside it.
result<tensor_files> tensor_files::open(file_system& files, const std::string& path) {
  tensor_files made;
  made.path_ = path;
  auto keep_reader = [&](auto opened, std::string_view format, auto list) -> status {
    TROUPE_TRY(opened.status());
    made.format_ = format;
    made.entries_ = list(*opened);
    TROUPE_ASSIGN(made.source_, keep(std::move(opened)));
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
      made.path_ = prefix;
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
    TROUPE_ASSIGN(auto what, files.inspect(prefix));
    if (!what.folder && prefix.ends_with(".meta"))
      return failure(
          error_kind::not_found, path,
          ": is the graph that belongs to a checkpoint, which is not beside it (there is "
          "no ",
          path.substr(0, path.size() - 5), ".index)");
    if (!what.folder)
      return keep_tensorflow(prefix);
    if (!exists(files, path_in(path, "manifest.json"))) {
      checkpoint_folder of{files, path};
      auto latest = of.latest();
      if (!latest && latest.status().kind() == error_kind::not_found) {
        TROUPE_ASSIGN(auto other, prefix_in(files, path));
        return keep_tensorflow(other);
      }
      TROUPE_TRY(latest.status());
      made.path_ = of.path_of(*latest);
    }
    return keep_reader(checkpoint_reader::open(files, made.path_), "a checkpoint of troupe",
                       [](const checkpoint_reader& reader) { return entries_of(reader); });
  }();
  TROUPE_TRY(std::move(outcome));
  std::ranges::sort(made.entries_, {}, &entry::name);
  return made;
}

const tensor_files::entry* tensor_files::find(std::string_view name) const noexcept {
  auto it = std::ranges::lower_bound(entries_, name, {}, &entry::name);
  return it == entries_.end() || it->name != name ? nullptr : &*it;
}

result<tensor> tensor_files::read(std::string_view name) const {
  if (!find(name))
    return no_such_tensor(path_, name, entries_);
  return source_->read(name);
}

status tensor_files::verify() const {
  for (const auto& one : entries_)
    TROUPE_TRY(read(one.name).status());
  return {};
}

} // namespace troupe
