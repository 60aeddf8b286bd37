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

// Says what the folder is instead, where that is known.
status no_saved_model(file_system& files, const std::string& folder, const std::string& path) {
  std::string graphs;
  if (auto all = files.list(folder))
    for (const auto& one : *all)
      if (one.name.ends_with(".meta"))
        graphs += concat(graphs.empty() ? "" : ", ", path_in(folder, one.name));
  return failure(error_kind::not_found, path, ": there is no such file, so ", folder,
                 " is no SavedModel",
                 graphs.empty() ? "" : concat("; it has graphs of checkpoints: give ", graphs));
}

// People may have either file; the bytes come first, as in TensorFlow.
result<SavedModel> parse_saved_model(file_system& files, const std::string& folder) {
  SavedModel made;
  auto path = path_in(folder, "saved_model.pb");
  auto content = read_whole(files, path, largest_file);
  if (!content && content.status().kind() == error_kind::not_found) {
    auto as_text = path_in(folder, "saved_model.pbtxt");
    auto text = read_whole(files, as_text, largest_file);
    if (!text)
      return text.status().kind() == error_kind::not_found ? no_saved_model(files, folder, path)
                                                           : text.status();
    TROUPE_TRY(parse_text(*text, as_text, made));
    return made;
  }
  if (!content)
    return content.status();
  if (!made.ParseFromArray(content->data(), static_cast<int>(content->size())))
    return failure(error_kind::data_loss, path, ": this is no SavedModel, or a damaged one");
  return made;
}

// The name of a node, of "node:0", "^node" or "node".
std::string node_of(std::string_view text) {
  auto name = input_name::parse(text);
  return std::string{name ? name->node : text};
}

// Says what signatures tell. Those of 2016 tell no types: then the nodes do.
class signature_reader {
public:
  explicit signature_reader(const GraphDef& graph) : graph_(graph) {}

  void note(const std::string& name, const TensorInfo& from,
            std::map<std::string, signature_tensor>& to) {
    signature_tensor made;
    auto number = from.dtype() == DT_INVALID ? type_of(from.name()) : from.dtype();
    made.has_type = number != DT_INVALID;
    if (auto type = read_stored_type(number))
      made.type = *type;
    if (!from.has_tensor_shape())
      made.dims = partial_shape::unknown();
    else if (auto dims = read_shape(from.tensor_shape()))
      made.dims = *dims;
    if (from.encoding_case() == TensorInfo::kCooSparse) {
      const auto& parts = from.coo_sparse();
      to[name + ".values"] = {parts.values_tensor_name(), made.type, {}, made.has_type};
      to[name + ".indices"] = {parts.indices_tensor_name(), dtype::i64, {}};
      to[name + ".dense_shape"] = {parts.dense_shape_tensor_name(), dtype::i64, {}};
      return;
    }
    made.tensor = from.name();
    to[name] = std::move(made);
  }

private:
  DataType type_of(std::string_view tensor) {
    if (nodes_.empty())
      for (const auto& each : graph_.node())
        nodes_.emplace(each.name(), &each);
    auto found = nodes_.find(node_of(tensor));
    if (found == nodes_.end())
      return DT_INVALID;
    for (const auto* attr : {"dtype", "DstT", "out_type", "T"})
      if (auto value = found->second->attr().find(attr); value != found->second->attr().end())
        return value->second.type();
    return DT_INVALID;
  }

  const GraphDef& graph_;
  std::unordered_map<std::string_view, const NodeDef*> nodes_; // filled when it is needed
};

saved_graph_info info_of(const MetaGraphDef& from) {
  saved_graph_info made;
  made.tags.assign(from.meta_info_def().tags().begin(), from.meta_info_def().tags().end());
  signature_reader reader{from.graph_def()};
  for (const auto& [name, each] : from.signature_def()) {
    if (name == init_signature)
      continue;
    auto& to = made.signatures[name];
    to.method = each.method_name();
    for (const auto& [key, one] : each.inputs())
      reader.note(key, one, to.inputs);
    for (const auto& [key, one] : each.outputs())
      reader.note(key, one, to.outputs);
  }
  return made;
}

class importer {
public:
  importer(MetaGraphDef& from, file_system& files, const std::string& folder)
      : from_(from), files_(files), folder_(folder), info_(info_of(from)) {}

  result<imported_saved_model> add_to(graph& into, const saved_model_options& options) {
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
    TROUPE_ASSIGN(auto added, read_graph_def(std::as_bytes(std::span{bytes}), into,
                                             {.file = std::string{name_of_file(path)},
                                              .filled_bytes = options.filled_bytes,
                                              .wanted = std::move(needed)}));
    imported_saved_model made{std::move(added), std::move(info_), {}};
    for (const auto& name : initializers_) {
      auto* found = made.graph.find(name);
      if (!found)
        return failure(error_kind::not_found, "there is no node '", name, "' to begin with");
      made.initializers.push_back(found);
    }
    for (const auto& [name, each] : made.info.signatures)
      for (const auto* side : {&each.inputs, &each.outputs})
        for (const auto& [key, one] : *side)
          if (auto found = made.graph.find_edge(one.tensor); !found)
            return found.status().within(concat("signature '", name, "', '", key, "'"));
    return made;
  }

private:
  google::protobuf::RepeatedPtrField<NodeDef>& nodes() {
    return *from_.mutable_graph_def()->mutable_node();
  }

  // As TensorFlow's loaders: first the variables, if there are any, then tables and the like.
  status find_initializers() {
    auto has_variables = false;
    for (const auto* ending : {".index", ""}) { // of version 2 or, up to TensorFlow 0.12, 1
      auto known = files_.inspect(saved_variables_path(folder_) + ending);
      if (!known && known.status().kind() != error_kind::not_found)
        return known.status();
      has_variables = has_variables || (known && !known->folder);
    }
    const auto& saver = from_.saver_def();
    if (has_variables && !saver.restore_op_name().empty())
      initializers_.push_back(node_of(saver.restore_op_name()));
    auto declared = from_.signature_def().find(init_signature);
    if (declared != from_.signature_def().end()) {
      for (const auto& [key, one] : declared->second.outputs())
        initializers_.push_back(node_of(one.name()));
      return {};
    }
    for (const auto* name : {"saved_model_main_op", "legacy_init_op"}) {
      auto found = from_.collection_def().find(name);
      if (found == from_.collection_def().end() || found->second.node_list().value().empty())
        continue;
      initializers_.push_back(node_of(found->second.node_list().value(0)));
      break;
    }
    return {};
  }

  // A loader would feed them; in a step of its own there is nobody who does.
  status name_files() {
    auto set = [&](std::string_view tensor, const std::string& value) -> status {
      auto found = by_name_.find(node_of(tensor));
      if (found == by_name_.end())
        return failure(error_kind::not_found, "there is no tensor '", tensor,
                       "' for the name of a file");
      auto& node = *nodes().Mutable(found->second);
      node.set_op("Const");
      node.clear_input();
      node.clear_attr();
      auto& attrs = *node.mutable_attr();
      attrs["dtype"] = written(attr_value{dtype::string});
      attrs["value"] = written(attr_value{tensor::scalar(value)});
      return {};
    };
    if (!from_.saver_def().filename_tensor_name().empty())
      TROUPE_TRY(set(from_.saver_def().filename_tensor_name(), saved_variables_path(folder_)));
    TROUPE_ASSIGN(auto assets, read_assets());
    for (const auto& each : assets) {
      const auto& file = each.filename();
      if (file.empty() || file.find('/') != file.npos || file == "..")
        return invalid("'", file, "' is no name of a file of its own");
      TROUPE_TRY(set(each.tensor_info().name(), path_in(saved_assets_path(folder_), file)));
    }
    return {};
  }

  // The first API has them in a collection.
  result<std::vector<AssetFileDef>> read_assets() const {
    std::vector<AssetFileDef> all{from_.asset_file_def().begin(), from_.asset_file_def().end()};
    auto found = from_.collection_def().find("saved_model_assets");
    if (!all.empty() || found == from_.collection_def().end())
      return all;
    for (const auto& each : found->second.any_list().value())
      if (!all.emplace_back().ParseFromString(each.value()))
        return failure(error_kind::data_loss, "its list of assets is damaged");
    return all;
  }

  // The nodes of the signatures and initializers. One that is not there is an error where the
  // signature is looked up, which names it.
  std::vector<std::string> wanted() const {
    std::vector<std::string> names = initializers_;
    for (const auto& [name, each] : info_.signatures)
      for (const auto* side : {&each.inputs, &each.outputs})
        for (const auto& [key, one] : *side)
          names.push_back(node_of(one.tensor));
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
  TROUPE_ASSIGN(auto all, parse_saved_model(files, folder));
  std::vector<saved_graph_info> made;
  for (const auto& each : all.meta_graphs())
    made.push_back(info_of(each));
  return made;
}

result<imported_saved_model> read_saved_model(file_system& files, const std::string& folder,
                                              graph& into, const saved_model_options& options) {
  TROUPE_ASSIGN(auto all, parse_saved_model(files, folder));
  auto which = choose_graph(all, options.tags);
  if (!which)
    return which.status().within(folder);
  importer one{*all.mutable_meta_graphs(*which), files, folder};
  auto made = one.add_to(into, options);
  if (!made)
    return made.status().within(folder);
  return made;
}

} // namespace troupe
