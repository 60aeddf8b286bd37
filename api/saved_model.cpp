#include "troupe/api/saved_model.hpp"

#include "troupe/api/internal/reject.hpp"
#include "troupe/serialization/tensor_bundle/slice_spec.hpp"
#include "troupe/serialization/tensor_bundle/tensor_bundle.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

namespace troupe {
namespace {

// All variables that something needs.
std::vector<edge> variables_behind(std::vector<const node*> open) {
  std::set<const node*> seen;
  std::map<int, edge> found; // in the order of the graph
  while (!open.empty()) {
    const auto* next = open.back();
    open.pop_back();
    if (!seen.insert(next).second)
      continue;
    if (next->op().makes == resource::variable && !next->op().per_step)
      found[next->id()] = {const_cast<node*>(next), 0};
    for (const auto& input : next->inputs())
      open.push_back(input.node);
    for (const auto* before : next->controls())
      open.push_back(before);
  }
  std::vector<edge> all;
  for (const auto& [id, one] : found)
    all.push_back(one);
  return all;
}

// What a slice of a partitioned variable says of itself (api/layers/partitioned.hpp).
std::string text_of(edge variable, std::string_view name) {
  const auto& attrs = variable.node->attrs();
  auto it = attrs.find(name);
  return it == attrs.end() ? std::string{} : *it->second.get_if<std::string>();
}

} // namespace

saved_model::saved_model(imported_saved_model from)
    : nodes_(from.graph), initializers_(std::move(from.initializers)) {
  for (const auto& [name, each] : from.info.signatures) {
    auto& to = signatures_[name];
    to.method = each.method;
    for (const auto& [key, one] : each.inputs)
      to.inputs[key] = nodes_[one.tensor];
    for (const auto& [key, one] : each.outputs)
      to.outputs[key] = nodes_[one.tensor];
  }
}

const model_signature& saved_model::signature(std::string_view name, location where) const {
  if (auto found = signatures_.find(std::string{name}); found != signatures_.end())
    return found->second;
  std::vector<std::string_view> known;
  for (const auto& [one, each] : signatures_)
    known.push_back(one);
  throw error{failure(error_kind::not_found, "the model has no signature '", name, "'",
                      did_you_mean(name, known))
                  .within(call_text("signature", where))};
}

void saved_model::initialize(session& in, location where) const {
  for (auto* one : initializers_)
    in.run(one, {}, {}, where);
}

saved_model load_saved_model(graph_builder& to, const std::string& folder,
                             const saved_model_options& options) {
  auto path = std::filesystem::absolute(folder).lexically_normal().string();
  return saved_model{value_or_throw(read_saved_model(real_files(), path, to, options))};
}

void save_saved_model(session& in, const graph& of, const std::string& folder,
                      const save_model_options& options, std::source_location where) {
  auto must = [&](status outcome) {
    if (!outcome)
      throw error{std::move(outcome).within(concat("save_saved_model (", to_string(where), ')'))};
  };
  auto must_have = [&](auto outcome) {
    must(outcome.status());
    return *std::move(outcome);
  };
  if (options.signatures.empty())
    reject("save_saved_model", where, "there are no signatures");
  for (const auto& [name, each] : options.signatures)
    for (const auto* edges : {&each.inputs, &each.outputs})
      for (const auto& [key, one] : *edges)
        need_edge("save_saved_model", where, one,
                  concat("'", key, "' of the signature '", name, "'"));
  for (const auto& [tensor, path] : options.assets)
    need_edge("save_saved_model", where, tensor, concat("the edge of the file '", path, "'"));
  auto& files = real_files();
  if (auto there = files.list(folder); there && !there->empty())
    must(failure(error_kind::already_exists, folder, ": there is something in it already"));
  std::vector<const node*> roots;
  for (const auto& [name, each] : options.signatures)
    for (const auto& [key, one] : each.outputs)
      roots.push_back(one.node);
  if (options.initializer)
    roots.push_back(options.initializer);
  saved_model_contents what{
      .signatures = options.signatures, .initializer = options.initializer, .tags = options.tags};
  auto variables = variables_behind(roots);
  auto local = std::ranges::stable_partition(
      variables, [](edge one) { return !detail::is_local_variable(*one.node); });
  for (const auto& one : of.variables())
    if (one.initializer && find_edge(local, one.ref) != local.end())
      what.local_initializers.push_back(one.initializer);
  variables.erase(local.begin(), local.end());
  for (const auto& one : variables) {
    auto whole = text_of(one, "_slice_of");
    if (whole.empty())
      what.variables.push_back({one, one.node->name(), {}});
    else
      what.variables.push_back({one, whole, text_of(one, "_slice")});
  }
  std::set<std::string> names;
  for (const auto& [tensor, path] : options.assets) {
    std::string name{name_of_file(path)};
    if (!names.insert(name).second)
      must(invalid("two assets are called '", name, "'"));
    what.assets.push_back({tensor, std::move(name)});
  }
  auto bytes = must_have(write_saved_model(of, what));
  must(make_folder_durably(files, folder));
  if (!variables.empty()) {
    auto values = in.run({}, variables, {}, {}, where);
    must(make_folder_durably(files, path_in(folder, "variables")));
    auto writer = must_have(tensor_bundle_writer::begin(files, saved_variables_path(folder)));
    for (size_t i = 0; i < values.size(); ++i)
      if (auto part = must_have(slice_spec::parse(what.variables[i].slice)))
        must(writer.add_slice(what.variables[i].name, part->whole, part->slice.offset, values[i]));
      else
        must(writer.add(what.variables[i].name, values[i]));
    must(writer.finish());
  }
  if (!options.assets.empty())
    must(make_folder_durably(files, saved_assets_path(folder)));
  for (size_t i = 0; i < options.assets.size(); ++i) {
    auto content = must_have(read_whole(files, options.assets[i].second, uint64_t{1} << 34));
    must(replace_file(files, path_in(saved_assets_path(folder), what.assets[i].file), content));
  }
  must(replace_file(files, path_in(folder, "saved_model.pb"), bytes)); // last: then it is complete
}

} // namespace troupe
