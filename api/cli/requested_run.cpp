#include "troupe/api/cli/requested_run.hpp"
// Turns command line arguments into runs of a graph.

#include "troupe/api/error.hpp"
#include "troupe/api/npy.hpp"
#include "troupe/serialization/text/text_scanner.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

namespace troupe::cli {
namespace {

constexpr size_t literal_bytes = 256u << 20;

// Splits `name=value`.
std::pair<std::string, std::string> assignment(const std::string& word, const char* option) {
  auto equals = word.find('=');
  if (equals == word.npos || equals == 0)
    throw error{invalid(option, " takes NAME=VALUE, got '", word, "'")};
  return {word.substr(0, equals), word.substr(equals + 1)};
}

// Parses a literal with or without a type; without one it gets the type of the edge: 3, [1, 2],
// text.
tensor literal(const std::string& text, dtype type) {
  auto read = [](const std::string& literal_text) -> result<tensor> {
    text_scanner in{literal_text, "value", literal_bytes};
    TROUPE_ASSIGN(auto value, in.literal());
    TROUPE_TRY(in.end_statement());
    return value;
  };
  if (text_scanner in{text, "value", literal_bytes}; in.at_literal())
    return value_or_throw(read(text));
  if (type == dtype::string && !text.starts_with('[') && !text.starts_with('"'))
    return tensor::scalar(text);
  return value_or_throw(
      read(text.starts_with('[') ? concat(type, text) : concat(type, '(', text, ')')));
}

text_feed read_feed(const std::string& word, const graph_import& in) {
  auto [name, text] = assignment(word, "--feed");
  auto fed_edge = in[name];
  auto value = text.starts_with('@') ? load_npy(text.substr(1)) : literal(text, fed_edge.type());
  // NumPy's numbers are 64 bits wide by default.
  auto fitting = convert_literal(value, fed_edge.type());
  if (!fitting)
    throw error{fitting.status().with_context(concat("--feed ", name))};
  return {fed_edge, *std::move(fitting)};
}

// Lists possible feeds and fetches of the graph. Nodes whose outputs other nodes read are not
// listed, nor those that only keep names for other nodes.
std::string list_ends(const graph& model, const graph_import& in) {
  constexpr size_t max_count = 10;
  std::set<const node*> inner, kept_names;
  std::string feeds, fetches;
  size_t count = 0;
  for (const auto& candidate : model.nodes())
    for (const auto& input : candidate->inputs())
      (in.is_stand_in(*candidate) ? kept_names : inner).insert(input.node);
  auto is_inner = [&](const node& candidate) {
    return in.is_stand_in(candidate)
               ? inner.contains(candidate.inputs()[0].node)
               : inner.contains(&candidate) || kept_names.contains(&candidate);
  };
  for (const auto& candidate : model.nodes()) {
    auto& list = has(candidate->op().effects, effect::must_be_fed) ? feeds : fetches;
    if (candidate->outputs() == 0 || (&list == &fetches && is_inner(*candidate)))
      continue;
    if (++count > max_count)
      return concat(feeds, fetches, " ...");
    list += concat(&list == &feeds ? " feeds " : " fetches ", candidate->name(), ' ',
                   candidate->output_type(0), candidate->output_shape(0), ',');
  }
  auto text = feeds + fetches;
  return text.substr(0, text.size() - !text.empty());
}

} // namespace

std::vector<std::string> wanted_names(const run_arguments& arguments) {
  std::vector<std::string> names;
  for (const auto* group : {&arguments.fetches, &arguments.targets, &arguments.inits})
    names.insert(names.end(), group->begin(), group->end());
  for (const auto& word : arguments.saves)
    names.push_back(assignment(word, "--save").first);
  if (arguments.fetches.empty() && arguments.targets.empty() && arguments.saves.empty() &&
      !arguments.feeds.empty())
    return {}; // runs_of() reports the error
  for (const auto& word : arguments.feeds)
    names.push_back(assignment(word, "--feed").first);
  return names;
}

std::vector<run_plan> runs_of(const run_arguments& arguments, const graph_import& in,
                              const graph& model, const graph_import* fetched) {
  std::vector<run_plan> runs;
  run_plan last;
  for (const auto& word : arguments.feeds)
    last.run.feeds.push_back(read_feed(word, in));
  for (const auto& name : arguments.inits)
    runs.push_back(
        {{.feeds = last.run.feeds, .fetches = {}, .targets = {in.target(name)}, .error = {}}});
  for (const auto& name : arguments.targets)
    last.run.targets.push_back(in.target(name));

  auto fetch = [&](const std::string& name) {
    auto position = std::ranges::find(last.names, name) - last.names.begin();
    if (static_cast<size_t>(position) == last.names.size()) {
      last.run.fetches.push_back({(fetched ? *fetched : in)[name], {}, 0, 0});
      last.names.push_back(name);
      last.files.emplace_back();
    }
    return static_cast<size_t>(position);
  };
  for (const auto& name : arguments.fetches)
    fetch(name);
  for (const auto& word : arguments.saves) {
    auto [name, file] = assignment(word, "--save");
    auto path = file.starts_with('@') ? file.substr(1) : file;
    if (std::ranges::find(last.files, path) != last.files.end())
      throw error{invalid("--save ", word, ": another --save writes to the same file")};
    auto& target_path = last.files[fetch(name)];
    if (!target_path.empty())
      throw error{invalid("--save ", word, ": '", name, "' is already saved to ", target_path,
                          "; name each value once")};
    target_path = path;
  }
  if (!arguments.out.empty()) {
    std::filesystem::create_directories(arguments.out);
    for (size_t i = 0; i < last.names.size(); ++i)
      if (auto file_name = last.names[i]; last.files[i].empty()) {
        std::ranges::replace_if(
            file_name, [](char c) { return c == '/' || c == ':'; }, '_');
        last.files[i] = concat(arguments.out, '/', file_name, ".npy");
      }
  }
  if (!last.run.fetches.empty() || !last.run.targets.empty())
    runs.push_back(std::move(last));
  else if (runs.empty() || !last.run.feeds.empty())
    throw error{invalid("select what to compute with --fetch or --target; the graph has:",
                        list_ends(model, in))};
  return runs;
}

} // namespace troupe::cli
