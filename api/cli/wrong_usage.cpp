#include "troupe/api/cli/wrong_usage.hpp"
// Explains errors of the command line.

#include "troupe/runtime/graph/registry.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace troupe::cli {
namespace {

std::vector<const CLI::App*> subcommands_of(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App*) { return true; });
}

// Returns the long options of a command, with their dashes.
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
                                const CLI::ParseError& problem) {
  const auto* command = &app;
  auto path = app.get_name();
  auto word = words.begin();
  auto explain = [&](const std::string& text) {
    return concat(path, ": ", text, " (", path, " --help says more)");
  };
  for (auto subcommands = subcommands_of(app); !subcommands.empty();
       subcommands = subcommands_of(*command)) {
    word = std::find_if(word, words.end(),
                        [](const auto& candidate) { return !candidate.starts_with('-'); });
    std::vector<std::string> names;
    for (const auto* subcommand : subcommands)
      names.push_back(subcommand->get_name());
    std::string list;
    for (const auto& name : names)
      list += (list.empty() ? "" : ", ") + name;
    if (word == words.end()) {
      word = words.begin();
      if (dynamic_cast<const CLI::RequiredError*>(&problem))
        return explain("a subcommand is required: " + list);
      break;
    }
    auto chosen = std::ranges::find(names, *word);
    if (chosen == names.end()) {
      auto nearest = proposal(*word, names);
      return explain(concat("there is no subcommand '", *word, '\'', nearest,
                            nearest.empty() ? "; there are " : " There are ", list));
    }
    command = subcommands[static_cast<size_t>(chosen - names.begin())];
    path += ' ' + *word++;
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&problem)) {
    auto known = options_of(*command);
    for (; word != words.end() && *word != "--"; ++word)
      if (auto name = word->substr(0, word->find('='));
          name.starts_with("--") && std::ranges::find(known, name) == known.end())
        return explain(concat("there is no option ", name, proposal(name, known)));
  }
  return explain(problem.what());
}

} // namespace troupe::cli
