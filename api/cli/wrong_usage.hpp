// What is said of a command line that is wrong.
#pragma once
#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
} // namespace CLI

namespace troupe::cli {

/// One line: the first unknown subcommand or option with the nearest known ones, else what the
/// parser says, and whose --help says more. `words` is the command line without the program.
std::string explain_wrong_usage(const CLI::App& app, const std::vector<std::string>& words,
                                const CLI::ParseError& why);

} // namespace troupe::cli
