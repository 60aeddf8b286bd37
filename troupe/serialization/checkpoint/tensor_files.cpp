#include "troupe/serialization/checkpoint/tensor_files.hpp"

#include "troupe/serialization/checkpoint/checkpoint_folder.hpp"
#include "troupe/serialization/tensor_bundle/no_such_tensor.hpp"
#include "troupe/serialization/files/npz.hpp"
#include "troupe/serialization/tensor_bundle/slice_file.hpp"

#include <algorithm>
#include <map>

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
      return keep_reader(npz_reader::open(files, path), "npz", [](const npz_reader& reader) {
        std::vector<entry> names;
        for (auto& name : reader.names())
          names.push_back({std::move(name)});
        return names;
      });
    auto prefix = path.ends_with(".index") ? path.substr(0, path.size() - 6) : path;
    if (exists(files, prefix + ".index")) {
      made.path_ = prefix;
      return keep_reader(tensor_bundle_reader::open(files, prefix), "TensorFlow's, version 2",
                         listed);
    }
    TROUPE_ASSIGN(auto what, files.inspect(path));
    if (!what.folder)
      return keep_reader(slice_file_reader::open(files, path), "TensorFlow's, version 1", listed);
    if (!exists(files, path_in(path, "manifest.json"))) {
      checkpoint_folder of{files, path};
      TROUPE_ASSIGN(auto latest, of.latest());
      made.path_ = of.path_of(latest);
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
