#include "troupe/api/cli/asked_model.hpp"

#include "troupe/api/error.hpp"
#include "troupe/api/internal/reject.hpp"
#include "troupe/api/saved_model.hpp"

#include <sstream>

namespace troupe::cli {
namespace {

void append_tensors(std::string& to, const char* what,
                    const std::map<std::string, signature_tensor>& all) {
  for (const auto& [key, one] : all)
    to += concat("  ", what, ' ', key, ' ',
                 !one.has_type             ? "of a type that the model does not tell "
                 : one.type == dtype::none ? "of a type that Troupe does not have "
                                           : to_string(one.type),
                 one.dims, '\n');
}

// The names of a signature, as if they were nodes.
graph_import named(graph_builder& in, const std::map<std::string, edge>& edges,
                   const std::map<std::string, edge>& others = {}) {
  imported_graph names{in, ""};
  for (const auto* all : {&edges, &others})
    for (const auto& [key, one] : *all)
      names.add_call(key, {one}, one.node);
  return graph_import{std::move(names)};
}

} // namespace

bool is_saved_model(const std::string& path) {
  auto known = real_files().inspect(path);
  return known && known->folder;
}

std::string folder_of_model(const std::string& path) {
  auto name = name_of_file(path);
  return name == "saved_model.pb" || name == "saved_model.pbtxt" ? folder_of(path) : path;
}

std::string list_signatures(const std::string& folder) {
  std::string text;
  for (const auto& one : value_or_throw(list_saved_model(real_files(), folder))) {
    std::string tags;
    for (const auto& tag : one.tags)
      tags += concat(tags.empty() ? "" : ",", tag);
    text += concat("graph with the tags ", tags.empty() ? "(none)" : tags, '\n');
    for (const auto& [name, each] : one.signatures) {
      text += concat("signature ", name, '\n');
      append_tensors(text, "feed ", each.inputs);
      append_tensors(text, "fetch", each.outputs);
    }
  }
  return text;
}

std::vector<asked_run> runs_of_model(const std::string& folder, const asked_model& which,
                                     asked words, graph_builder& to) {
  saved_model_options options;
  std::istringstream tags{which.tags};
  for (std::string tag; std::getline(tags, tag, ',');)
    options.tags.push_back(tag);
  options.signature = which.signature;
  auto model = load_saved_model(to, folder, options);
  auto name = !which.signature.empty()         ? which.signature
              : model.signatures().size() == 1 ? model.signatures().begin()->first
                                               : "serving_default";
  const auto& signature = model.signature(name, no_line);
  auto inputs = named(to, signature.inputs, signature.outputs);
  auto outputs = named(to, signature.outputs, signature.inputs);
  if (words.fetches.empty() && words.saves.empty() && words.targets.empty())
    for (const auto& [key, one] : signature.outputs)
      words.fetches.push_back(key);
  std::vector<asked_run> runs;
  for (auto* one : model.initializers())
    runs.push_back({{.feeds = {}, .fetches = {}, .targets = {one}, .error = {}}});
  for (auto& one : runs_of(words, inputs, to, &outputs))
    runs.push_back(std::move(one));
  return runs;
}

} // namespace troupe::cli
