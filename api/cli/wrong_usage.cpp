#include "troupe/api/cli/wrong_usage.hpp"

#include "troupe/runtime/graph/registry.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace troupe::cli {
namespace {

std::vector<const CLI::App*> subcommands_of(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App*) { return true; });
}

// `--cluster` and the like, with their dashes.
std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const auto* option : command.get_options())
    for (const auto& name : option->get_lnames())
      names.push_back("--" + name);
  return names;
}

std::string proposal(std::string_view name, const std::vector<std::string>& known) {
  return did_you_mean(name, {known.begin(), known.end()});
}

} // namespace

std::string explain_wrong_usage(const CLI::App& app, const std::vector<std::string>& words,
                                const CLI::ParseError& why) {
  const auto* command = &app;
  auto path = app.get_name();
  auto word = words.begin();
  auto said = [&](const std::string& text) {
    return concat(path, ": ", text, " (", path, " --help says more)");
  };
  for (auto below = subcommands_of(app); !below.empty(); below = subcommands_of(*command)) {
    word = std::find_if(word, words.end(), [](const auto& each) { return !each.starts_with('-'); });
    std::vector<std::string> names;
    for (const auto* each : below)
      names.push_back(each->get_name());
    std::string list;
    for (const auto& name : names)
      list += (list.empty() ? "" : ", ") + name;
    if (word == words.end()) {
      word = words.begin();
      if (dynamic_cast<const CLI::RequiredError*>(&why))
        return said("a subcommand is required: " + list);
      break;
    }
    auto chosen = std::ranges::find(names, *word);
    if (chosen == names.end()) {
      auto nearest = proposal(*word, names);
      return said(concat("there is no subcommand '", *word, '\'', nearest,
                         nearest.empty() ? "; there are " : " There are ", list));
    }
    command = below[static_cast<size_t>(chosen - names.begin())];
    path += ' ' + *word++;
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&why)) {
    auto known = options_of(*command);
    for (; word != words.end() && *word != "--"; ++word)
      if (auto name = word->substr(0, word->find('='));
          name.starts_with("--") && std::ranges::find(known, name) == known.end())
        return said(concat("there is no option ", name, proposal(name, known)));
  }
  return said(why.what());
}

} // namespace troupe::cli
