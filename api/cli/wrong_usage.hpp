// Messages for wrong usage of the command line.
#pragma once
#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
} // namespace CLI

namespace troupe::cli {

/// Returns one line: the first unknown subcommand or option with the nearest known ones, else the
/// parser's message, and a hint to --help. `words` is the command line without the program.
std::string explain_wrong_usage(const CLI::App& app, const std::vector<std::string>& words,
                                const CLI::ParseError& problem);

} // namespace troupe::cli
