#include "troupe/api/cli/asked_run.hpp"

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

// A literal with its type, or without it where that of the edge is meant: 3, [1, 2], text.
tensor literal(const std::string& text, dtype type) {
  auto read = [](const std::string& whole) -> result<tensor> {
    text_scanner in{whole, "value", literal_bytes};
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
  auto to = in[name];
  auto value = text.starts_with('@') ? load_npy(text.substr(1)) : literal(text, to.type());
  // NumPy's numbers are 64 bits wide unless they are asked for.
  auto fitting = converted(value, to.type());
  if (!fitting)
    throw error{fitting.status().within(concat("--feed ", name))};
  return {to, *std::move(fitting)};
}

// Says what could be asked for. Nodes that only keep the name of what other nodes read are no ends.
std::string ends_of(const graph& all, const graph_import& in) {
  constexpr size_t most = 10;
  std::set<const node*> read, named;
  std::string fed, last;
  size_t count = 0;
  for (const auto& node : all.nodes())
    for (const auto& input : node->inputs())
      (in.is_stand_in(*node) ? named : read).insert(input.node);
  auto is_inner = [&](const node& at) {
    return in.is_stand_in(at) ? read.contains(at.inputs()[0].node)
                              : read.contains(&at) || named.contains(&at);
  };
  for (const auto& node : all.nodes()) {
    auto& list = has(node->op().effects, effect::fed) ? fed : last;
    if (node->outputs() == 0 || (&list == &last && is_inner(*node)))
      continue;
    if (++count > most)
      return concat(fed, last, " ...");
    list += concat(&list == &fed ? " feeds " : " fetches ", node->name(), ' ', node->output_type(0),
                   node->output_shape(0), ',');
  }
  auto text = fed + last;
  return text.substr(0, text.size() - !text.empty());
}

} // namespace

std::vector<std::string> wanted_names(const asked& words) {
  std::vector<std::string> names;
  for (const auto* all : {&words.fetches, &words.targets, &words.inits})
    names.insert(names.end(), all->begin(), all->end());
  for (const auto& word : words.saves)
    names.push_back(assignment(word, "--save").first);
  if (words.fetches.empty() && words.targets.empty() && words.saves.empty() && !words.feeds.empty())
    return {}; // runs_of() says what there is
  for (const auto& word : words.feeds)
    names.push_back(assignment(word, "--feed").first);
  return names;
}

std::vector<asked_run> runs_of(const asked& words, const graph_import& in, const graph& all,
                               const graph_import* fetched) {
  std::vector<asked_run> runs;
  asked_run last;
  for (const auto& word : words.feeds)
    last.run.feeds.push_back(read_feed(word, in));
  for (const auto& name : words.inits)
    runs.push_back(
        {{.feeds = last.run.feeds, .fetches = {}, .targets = {in.target(name)}, .error = {}}});
  for (const auto& name : words.targets)
    last.run.targets.push_back(in.target(name));

  auto fetch = [&](const std::string& name) {
    auto known = std::ranges::find(last.names, name) - last.names.begin();
    if (static_cast<size_t>(known) == last.names.size()) {
      last.run.fetches.push_back({(fetched ? *fetched : in)[name], {}, 0, 0});
      last.names.push_back(name);
      last.files.emplace_back();
    }
    return static_cast<size_t>(known);
  };
  for (const auto& name : words.fetches)
    fetch(name);
  for (const auto& word : words.saves) {
    auto [name, file] = assignment(word, "--save");
    auto path = file.starts_with('@') ? file.substr(1) : file;
    if (std::ranges::find(last.files, path) != last.files.end())
      throw error{invalid("--save ", word, ": another --save writes to this file, too")};
    auto& to = last.files[fetch(name)];
    if (!to.empty())
      throw error{invalid("--save ", word, ": '", name, "' is saved to ", to,
                          " already; name each value once")};
    to = path;
  }
  if (!words.out.empty()) {
    std::filesystem::create_directories(words.out);
    for (size_t i = 0; i < last.names.size(); ++i)
      if (auto plain = last.names[i]; last.files[i].empty()) {
        std::ranges::replace_if(
            plain, [](char c) { return c == '/' || c == ':'; }, '_');
        last.files[i] = concat(words.out, '/', plain, ".npy");
      }
  }
  if (!last.run.fetches.empty() || !last.run.targets.empty())
    runs.push_back(std::move(last));
  else if (runs.empty() || !last.run.feeds.empty())
    throw error{
        invalid("say what to compute with --fetch or --target; the graph has:", ends_of(all, in))};
  return runs;
}

} // namespace troupe::cli
