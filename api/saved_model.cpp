#include "troupe/api/saved_model.hpp"
// Loads and saves SavedModels.

#include "troupe/api/internal/reject.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/serialization/tensor_bundle/slice_spec.hpp"
#include "troupe/serialization/tensor_bundle/tensor_bundle.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

namespace troupe {
namespace {

// Returns all variables that the given nodes need, in the order of the graph.
std::vector<edge> variables_behind(std::vector<const node*> pending) {
  std::set<const node*> visited;
  std::map<int, edge> by_id;
  while (!pending.empty()) {
    const auto* current = pending.back();
    pending.pop_back();
    if (!visited.insert(current).second)
      continue;
    if (current->op().state_kind == resource::variable && !current->op().per_step)
      by_id[current->id()] = {const_cast<node*>(current), 0};
    for (const auto& input : current->inputs())
      pending.push_back(input.node);
    for (const auto* dependency : current->controls())
      pending.push_back(dependency);
  }
  std::vector<edge> variables;
  for (const auto& [id, variable] : by_id)
    variables.push_back(variable);
  return variables;
}

// Returns an attribute that describes a slice of a partitioned variable
// (api/layers/partitioned.hpp).
std::string text_of(edge variable, std::string_view name) {
  const auto& attrs = variable.node->attrs();
  auto entry = attrs.find(name);
  return entry == attrs.end() ? std::string{} : *entry->second.get_if<std::string>();
}

void check_edges(const save_model_options& options, std::source_location where) {
  if (options.signatures.empty())
    reject("save_saved_model", where, "there are no signatures");
  for (const auto& [name, signature] : options.signatures)
    for (const auto* edges : {&signature.inputs, &signature.outputs})
      for (const auto& [key, signature_edge] : *edges)
        need_edge("save_saved_model", where, signature_edge,
                  concat("'", key, "' of the signature '", name, "'"));
  for (const auto& [tensor, path] : options.assets)
    need_edge("save_saved_model", where, tensor, concat("the edge of the file '", path, "'"));
}

// Adds the variables that the signatures and the initializer use. Local variables are not saved but
// initialized.
void add_variables(saved_model_contents& contents, const graph& model) {
  std::vector<const node*> roots;
  for (const auto& [name, signature] : contents.signatures)
    for (const auto& [key, output] : signature.outputs)
      roots.push_back(output.node);
  if (contents.initializer)
    roots.push_back(contents.initializer);
  auto variables = variables_behind(roots);
  auto local = std::ranges::stable_partition(
      variables, [](edge variable) { return !detail::is_local_variable(*variable.node); });
  for (const auto& variable : model.variables())
    if (variable.initializer && find_edge(local, variable.ref) != local.end())
      contents.local_initializers.push_back(variable.initializer);
  variables.erase(local.begin(), local.end());
  for (const auto& variable : variables) {
    auto whole_name = text_of(variable, "_slice_of");
    if (whole_name.empty())
      contents.variables.push_back({variable, variable.node->name(), {}});
    else
      contents.variables.push_back({variable, whole_name, text_of(variable, "_slice")});
  }
}

status add_assets(saved_model_contents& contents, const save_model_options& options) {
  std::set<std::string> names;
  for (const auto& [tensor, path] : options.assets) {
    std::string name{name_of_file(path)};
    if (!names.insert(name).second)
      return invalid("two assets are called '", name, "'");
    contents.assets.push_back({tensor, std::move(name)});
  }
  return {};
}

status save_variables(session& in, const std::vector<saved_model_contents::variable>& variables,
                      const std::string& folder, std::source_location where) {
  std::vector<edge> outputs;
  for (const auto& variable : variables)
    outputs.push_back(variable.output);
  auto& files = real_files();
  auto values = in.run({}, outputs, {}, {}, where);
  TROUPE_TRY(make_folder_durably(files, path_in(folder, "variables")));
  TROUPE_ASSIGN(auto writer, tensor_bundle_writer::begin(files, saved_variables_path(folder)));
  for (size_t i = 0; i < values.size(); ++i) {
    TROUPE_ASSIGN(auto slice, slice_spec::parse(variables[i].slice));
    TROUPE_TRY(slice ? writer.add_slice(variables[i].name, slice->full_shape, slice->slice.offset,
                                        values[i])
                     : writer.add(variables[i].name, values[i]));
  }
  return writer.finish();
}

status copy_assets(const saved_model_contents& contents, const save_model_options& options,
                   const std::string& folder) {
  auto& files = real_files();
  if (!options.assets.empty())
    TROUPE_TRY(make_folder_durably(files, saved_assets_path(folder)));
  for (size_t i = 0; i < options.assets.size(); ++i) {
    TROUPE_ASSIGN(auto content, read_whole(files, options.assets[i].second, uint64_t{1} << 34));
    TROUPE_TRY(
        replace_file(files, path_in(saved_assets_path(folder), contents.assets[i].file), content));
  }
  return {};
}

status save_files(session& in, const graph& model, const std::string& folder,
                  const save_model_options& options, std::source_location where) {
  auto& files = real_files();
  if (auto entries = files.list(folder); entries && !entries->empty())
    return failure(error_kind::already_exists, folder, ": the folder is not empty");
  saved_model_contents contents{
      .signatures = options.signatures, .initializer = options.initializer, .tags = options.tags};
  add_variables(contents, model);
  TROUPE_TRY(add_assets(contents, options));
  TROUPE_ASSIGN(auto bytes, write_saved_model(model, contents));
  TROUPE_TRY(make_folder_durably(files, folder));
  if (!contents.variables.empty())
    TROUPE_TRY(save_variables(in, contents.variables, folder, where));
  TROUPE_TRY(copy_assets(contents, options, folder));
  // Last: the file marks completion.
  return replace_file(files, path_in(folder, "saved_model.pb"), bytes);
}

} // namespace

saved_model::saved_model(imported_saved_model imported)
    : nodes_(imported.graph), initializers_(std::move(imported.initializers)) {
  for (const auto& [name, info] : imported.info.signatures) {
    auto& loaded = signatures_[name];
    loaded.method = info.method;
    for (const auto& [key, entry] : info.inputs)
      loaded.inputs[key] = nodes_[entry.tensor];
    for (const auto& [key, entry] : info.outputs)
      loaded.outputs[key] = nodes_[entry.tensor];
  }
}

const model_signature& saved_model::signature(std::string_view name, location where) const {
  if (auto existing = signatures_.find(std::string{name}); existing != signatures_.end())
    return existing->second;
  std::vector<std::string_view> known;
  for (const auto& [known_name, existing] : signatures_)
    known.push_back(known_name);
  throw error{failure(error_kind::not_found, "the model has no signature '", name, "'",
                      did_you_mean(name, known))
                  .with_context(call_text("signature", where))};
}

void saved_model::initialize(session& in, location where) const {
  for (auto* initializer : initializers_)
    in.run(initializer, {}, {}, where);
}

saved_model load_saved_model(graph_builder& to, const std::string& folder,
                             const saved_model_options& options) {
  auto path = std::filesystem::absolute(folder).lexically_normal().string();
  return saved_model{value_or_throw(read_saved_model(real_files(), path, to, options))};
}

void save_saved_model(session& in, const graph& model, const std::string& folder,
                      const save_model_options& options, std::source_location where) {
  check_edges(options, where);
  if (auto saved = save_files(in, model, folder, options, where); !saved)
    throw error{std::move(saved).with_context(concat("save_saved_model (", to_string(where), ')'))};
}

} // namespace troupe
