#include "troupe/api/cli/model_arguments.hpp"
// Reads SavedModels for `troupe run`.

#include "troupe/api/error.hpp"
#include "troupe/api/internal/reject.hpp"
#include "troupe/api/saved_model.hpp"

#include <sstream>

namespace troupe::cli {
namespace {

void append_tensors(std::string& text, const char* role,
                    const std::map<std::string, signature_tensor>& tensors) {
  for (const auto& [key, info] : tensors)
    text += concat("  ", role, ' ', key, ' ',
                   !info.has_type             ? "of a type that the model does not define "
                   : info.type == dtype::none ? "of a type that Troupe does not support "
                                              : to_string(info.type),
                   info.dims, '\n');
}

// Makes the names of a signature available like names of nodes.
graph_import import_names(graph_builder& in, const std::map<std::string, edge>& edges,
                          const std::map<std::string, edge>& others = {}) {
  imported_graph names{in, ""};
  for (const auto* group : {&edges, &others})
    for (const auto& [key, output] : *group)
      names.add_call(key, {output}, output.node);
  return graph_import{std::move(names)};
}

} // namespace

bool is_saved_model(const std::string& path) {
  auto info = real_files().inspect(path);
  return info && info->is_folder;
}

std::string folder_of_model(const std::string& path) {
  auto name = name_of_file(path);
  return name == "saved_model.pb" || name == "saved_model.pbtxt" ? folder_of(path) : path;
}

std::string list_signatures(const std::string& folder) {
  std::string text;
  for (const auto& model_graph : value_or_throw(list_saved_model(real_files(), folder))) {
    std::string tags;
    for (const auto& tag : model_graph.tags)
      tags += concat(tags.empty() ? "" : ",", tag);
    text += concat("graph with the tags ", tags.empty() ? "(none)" : tags, '\n');
    for (const auto& [name, signature] : model_graph.signatures) {
      text += concat("signature ", name, '\n');
      append_tensors(text, "feed ", signature.inputs);
      append_tensors(text, "fetch", signature.outputs);
    }
  }
  return text;
}

std::vector<run_plan> runs_of_model(const std::string& folder, const model_arguments& model_options,
                                    run_arguments arguments, graph_builder& to) {
  saved_model_options options;
  std::istringstream tags{model_options.tags};
  for (std::string tag; std::getline(tags, tag, ',');)
    options.tags.push_back(tag);
  options.signature = model_options.signature;
  auto model = load_saved_model(to, folder, options);
  auto name = !model_options.signature.empty() ? model_options.signature
              : model.signatures().size() == 1 ? model.signatures().begin()->first
                                               : "serving_default";
  const auto& signature = model.signature(name, no_line);
  auto inputs = import_names(to, signature.inputs, signature.outputs);
  auto outputs = import_names(to, signature.outputs, signature.inputs);
  if (arguments.fetches.empty() && arguments.saves.empty() && arguments.targets.empty())
    for (const auto& [key, output] : signature.outputs)
      arguments.fetches.push_back(key);
  std::vector<run_plan> runs;
  for (auto* initializer : model.initializers())
    runs.push_back({{.feeds = {}, .fetches = {}, .targets = {initializer}, .error = {}}});
  for (auto& plan : runs_of(arguments, inputs, to, &outputs))
    runs.push_back(std::move(plan));
  return runs;
}

} // namespace troupe::cli
