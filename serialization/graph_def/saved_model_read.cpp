#include "troupe/runtime/graph/registry.hpp"
#include "troupe/serialization/graph_def/graph_file.hpp"
#include "troupe/serialization/graph_def/input_name.hpp"
#include "troupe/serialization/graph_def/saved_model.hpp"
#include "troupe/serialization/graph_def/saved_model.pb.h"
#include "troupe/serialization/graph_def/text_format.hpp"
#include "troupe/serialization/graph_def/values.hpp"

#include <algorithm>
#include <climits>
#include <unordered_map>

namespace troupe {
namespace {

using namespace graph_def;

constexpr uint64_t largest_file = INT_MAX;
constexpr const char* init_signature = "__saved_model_init_op";

// The error for a folder without a SavedModel, with advice if it has other graphs.
status no_saved_model(file_system& files, const std::string& folder, const std::string& path) {
  std::string graphs;
  if (auto entries = files.list(folder))
    for (const auto& entry : *entries)
      if (entry.name.ends_with(".meta"))
        graphs += concat(graphs.empty() ? "" : ", ", path_in(folder, entry.name));
  return failure(error_kind::not_found, path, ": there is no such file, so ", folder,
                 " is no SavedModel",
                 graphs.empty() ? "" : concat("; it has graphs of checkpoints: give ", graphs));
}

// Reads the binary file or, if there is none, the text file, as TensorFlow does.
result<SavedModel> parse_saved_model(file_system& files, const std::string& folder) {
  SavedModel model;
  auto path = path_in(folder, "saved_model.pb");
  auto content = read_whole(files, path, largest_file);
  if (!content && content.status().kind() == error_kind::not_found) {
    auto as_text = path_in(folder, "saved_model.pbtxt");
    auto text = read_whole(files, as_text, largest_file);
    if (!text)
      return text.status().kind() == error_kind::not_found ? no_saved_model(files, folder, path)
                                                           : text.status();
    TROUPE_TRY(parse_text(*text, as_text, model));
    return model;
  }
  if (!content)
    return content.status();
  if (!model.ParseFromArray(content->data(), static_cast<int>(content->size())))
    return failure(error_kind::data_loss, path, ": this is not a SavedModel, or it is damaged");
  return model;
}

// The node in "node:0", "^node" or "node".
std::string node_of(std::string_view text) {
  auto name = input_name::parse(text);
  return std::string{name ? name->node : text};
}

// Reads signatures. Those of 2016 have no types, which then follow from the nodes.
class signature_reader {
public:
  explicit signature_reader(const GraphDef& graph) : graph_(graph) {}

  void note(const std::string& name, const TensorInfo& from,
            std::map<std::string, signature_tensor>& tensors) {
    signature_tensor described;
    auto number = from.dtype() == DT_INVALID ? type_of(from.name()) : from.dtype();
    described.has_type = number != DT_INVALID;
    if (auto type = read_stored_type(number))
      described.type = *type;
    if (!from.has_tensor_shape())
      described.dims = partial_shape::unknown();
    else if (auto dims = read_shape(from.tensor_shape()))
      described.dims = *dims;
    if (from.encoding_case() == TensorInfo::kCooSparse) {
      const auto& parts = from.coo_sparse();
      tensors[name + ".values"] = {
          parts.values_tensor_name(), described.type, {}, described.has_type};
      tensors[name + ".indices"] = {parts.indices_tensor_name(), dtype::i64, {}};
      tensors[name + ".dense_shape"] = {parts.dense_shape_tensor_name(), dtype::i64, {}};
      return;
    }
    described.tensor = from.name();
    tensors[name] = std::move(described);
  }

private:
  DataType type_of(std::string_view tensor) {
    if (nodes_.empty())
      for (const auto& node_def : graph_.node())
        nodes_.emplace(node_def.name(), &node_def);
    auto position = nodes_.find(node_of(tensor));
    if (position == nodes_.end())
      return DT_INVALID;
    for (const auto* attr : {"dtype", "DstT", "out_type", "T"})
      if (auto value = position->second->attr().find(attr); value != position->second->attr().end())
        return value->second.type();
    return DT_INVALID;
  }

  const GraphDef& graph_;
  std::unordered_map<std::string_view, const NodeDef*> nodes_; // filled on first use
};

saved_graph_info info_of(const MetaGraphDef& from) {
  saved_graph_info info;
  info.tags.assign(from.meta_info_def().tags().begin(), from.meta_info_def().tags().end());
  signature_reader reader{from.graph_def()};
  for (const auto& [name, signature] : from.signature_def()) {
    if (name == init_signature)
      continue;
    auto& described = info.signatures[name];
    described.method = signature.method_name();
    for (const auto& [key, tensor_info] : signature.inputs())
      reader.note(key, tensor_info, described.inputs);
    for (const auto& [key, tensor_info] : signature.outputs())
      reader.note(key, tensor_info, described.outputs);
  }
  return info;
}

class importer {
public:
  importer(MetaGraphDef& from, file_system& files, const std::string& folder)
      : from_(from), files_(files), folder_(folder), info_(info_of(from)) {}

  result<imported_saved_model> add_to(graph& target, const saved_model_options& options) {
    for (int i = 0; i < nodes().size(); ++i)
      by_name_.emplace(nodes()[i].name(), i);
    TROUPE_TRY(find_initializers());
    TROUPE_TRY(name_files());
    if (auto named = info_.signatures.find(options.signature); named != info_.signatures.end())
      info_.signatures = {*named};
    auto needed = wanted();
    if (needed.empty())
      nodes().Clear();
    std::string bytes;
    if (from_.graph_def().ByteSizeLong() > INT_MAX || !from_.graph_def().SerializeToString(&bytes))
      return failure(error_kind::resource_exhausted, "its graph is too large");
    auto path = path_in(folder_, "saved_model.pb");
    TROUPE_ASSIGN(auto added, read_graph_def(std::as_bytes(std::span{bytes}), target,
                                             {.file = std::string{name_of_file(path)},
                                              .filled_bytes = options.filled_bytes,
                                              .wanted = std::move(needed)}));
    imported_saved_model imported{std::move(added), std::move(info_), {}};
    for (const auto& name : initializers_) {
      auto* initializer = imported.graph.find(name);
      if (!initializer)
        return failure(error_kind::not_found, "there is no node '", name, "' to begin with");
      imported.initializers.push_back(initializer);
    }
    for (const auto& [name, signature] : imported.info.signatures)
      for (const auto* side : {&signature.inputs, &signature.outputs})
        for (const auto& [key, named] : *side)
          if (auto found_edge = imported.graph.find_edge(named.tensor); !found_edge)
            return found_edge.status().with_context(concat("signature '", name, "', '", key, "'"));
    return imported;
  }

private:
  google::protobuf::RepeatedPtrField<NodeDef>& nodes() {
    return *from_.mutable_graph_def()->mutable_node();
  }

  // Finds initializers in the order of TensorFlow's loaders: variables first, then tables.
  status find_initializers() {
    auto has_variables = false;
    for (const auto* ending : {".index", ""}) { // of version 2 or, up to TensorFlow 0.12, 1
      auto info = files_.inspect(saved_variables_path(folder_) + ending);
      if (!info && info.status().kind() != error_kind::not_found)
        return info.status();
      has_variables = has_variables || (info && !info->is_folder);
    }
    const auto& saver = from_.saver_def();
    if (has_variables && !saver.restore_op_name().empty())
      initializers_.push_back(node_of(saver.restore_op_name()));
    auto declared = from_.signature_def().find(init_signature);
    if (declared != from_.signature_def().end()) {
      for (const auto& [key, tensor_info] : declared->second.outputs())
        initializers_.push_back(node_of(tensor_info.name()));
      return {};
    }
    for (const auto* name : {"saved_model_main_op", "legacy_init_op"}) {
      auto collection = from_.collection_def().find(name);
      if (collection == from_.collection_def().end() ||
          collection->second.node_list().value().empty())
        continue;
      initializers_.push_back(node_of(collection->second.node_list().value(0)));
      break;
    }
    return {};
  }

  // Makes the placeholders of file names constants, because initializers run without feeds.
  status name_files() {
    auto set = [&](std::string_view tensor, const std::string& value) -> status {
      auto position = by_name_.find(node_of(tensor));
      if (position == by_name_.end())
        return failure(error_kind::not_found, "there is no tensor '", tensor,
                       "' for the name of a file");
      auto& node = *nodes().Mutable(position->second);
      node.set_op("Const");
      node.clear_input();
      node.clear_attr();
      auto& attrs = *node.mutable_attr();
      attrs["dtype"] = to_proto(attr_value{dtype::string});
      attrs["value"] = to_proto(attr_value{tensor::scalar(value)});
      return {};
    };
    if (!from_.saver_def().filename_tensor_name().empty())
      TROUPE_TRY(set(from_.saver_def().filename_tensor_name(), saved_variables_path(folder_)));
    TROUPE_ASSIGN(auto assets, read_assets());
    for (const auto& asset : assets) {
      const auto& file = asset.filename();
      if (file.empty() || file.find('/') != file.npos || file == "..")
        return invalid("'", file, "' is not a plain file name");
      TROUPE_TRY(set(asset.tensor_info().name(), path_in(saved_assets_path(folder_), file)));
    }
    return {};
  }

  // Reads the assets, which the TensorFlow 1 API stores in a collection.
  result<std::vector<AssetFileDef>> read_assets() const {
    std::vector<AssetFileDef> assets{from_.asset_file_def().begin(), from_.asset_file_def().end()};
    auto collection = from_.collection_def().find("saved_model_assets");
    if (!assets.empty() || collection == from_.collection_def().end())
      return assets;
    for (const auto& item : collection->second.any_list().value())
      if (!assets.emplace_back().ParseFromString(item.value()))
        return failure(error_kind::data_loss, "its list of assets is damaged");
    return assets;
  }

  // The nodes of the signatures and initializers that exist. The lookup of a signature with a
  // missing node fails later and names it.
  std::vector<std::string> wanted() const {
    std::vector<std::string> names = initializers_;
    for (const auto& [name, signature] : info_.signatures)
      for (const auto* side : {&signature.inputs, &signature.outputs})
        for (const auto& [key, described] : *side)
          names.push_back(node_of(described.tensor));
    std::erase_if(names, [this](const auto& name) { return !by_name_.contains(name); });
    return names;
  }

  MetaGraphDef& from_;
  file_system& files_;
  const std::string& folder_;
  saved_graph_info info_;
  std::vector<std::string> initializers_;
  std::unordered_map<std::string, int> by_name_;
};

} // namespace

std::string saved_variables_path(const std::string& folder) {
  return path_in(path_in(folder, "variables"), "variables");
}

std::string saved_assets_path(const std::string& folder) { return path_in(folder, "assets"); }

result<std::vector<saved_graph_info>> list_saved_model(file_system& files,
                                                       const std::string& folder) {
  TROUPE_ASSIGN(auto model, parse_saved_model(files, folder));
  std::vector<saved_graph_info> infos;
  for (const auto& meta_graph : model.meta_graphs())
    infos.push_back(info_of(meta_graph));
  return infos;
}

result<imported_saved_model> read_saved_model(file_system& files, const std::string& folder,
                                              graph& target, const saved_model_options& options) {
  TROUPE_ASSIGN(auto model, parse_saved_model(files, folder));
  auto graph_index = choose_graph(model, options.tags);
  if (!graph_index)
    return graph_index.status().with_context(folder);
  importer reader{*model.mutable_meta_graphs(*graph_index), files, folder};
  auto imported = reader.add_to(target, options);
  if (!imported)
    return imported.status().with_context(folder);
  return imported;
}

} // namespace troupe
