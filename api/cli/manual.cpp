// troupe manual, troupe completion: generate the manual page and the completion of shells from the
// parser, so that both have every command and option.
#include "troupe/api/cli/commands.hpp"
#include "troupe/runtime/version.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::cli {
namespace {

// Returns the subcommands in the order in which they were added.
std::vector<const CLI::App*> subcommands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_name().empty(); });
}

std::vector<std::string> option_names(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const auto& name : option.get_snames())
    names.push_back('-' + name);
  for (const auto& name : option.get_lnames())
    names.push_back("--" + name);
  return names;
}

// Escapes text for a manual page: troff interprets backslashes, hyphens and the first character of
// a line.
std::string escaped_for_troff(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    auto begins_line = escaped.empty() || escaped.back() == '\n';
    if (begins_line && (c == '.' || c == '\''))
      escaped += "\\&";
    if (c == '\\')
      escaped += "\\e";
    else if (c == '-')
      escaped += "\\-";
    else
      escaped += c;
  }
  return escaped;
}

void write_options(const CLI::App& command, std::ostream& out) {
  for (const auto* option : command.get_options()) {
    auto names = option_names(*option);
    if (names.empty() && !option->get_positional())
      continue;
    out << ".TP\n";
    if (names.empty())
      out << ".I " << escaped_for_troff(option->get_name(true)) << '\n';
    for (size_t i = 0; i < names.size(); ++i)
      out << (i == 0 ? ".B " : ", ") << escaped_for_troff(names[i]);
    if (!names.empty()) {
      if (option->get_expected_max() > 0 && !option->get_type_name().empty())
        out << ' ' << escaped_for_troff(option->get_type_name());
      out << '\n';
    }
    out << escaped_for_troff(option->get_description()) << '\n';
  }
}

void write_command(const CLI::App& command, const std::string& path, std::ostream& out) {
  out << ".SS " << escaped_for_troff(path) << '\n'
      << escaped_for_troff(command.get_description()) << ".\n";
  write_options(command, out);
  for (const auto* subcommand : subcommands_of(command))
    write_command(*subcommand, path + ' ' + subcommand->get_name(), out);
}

void write_manual(const CLI::App& app, std::ostream& out) {
  out << ".TH TROUPE 1 \"\" \"Troupe " << library_version << "\" \"User Commands\"\n"
      << ".SH NAME\ntroupe \\- run and operate dataflow graphs and the tasks of clusters\n"
      << ".SH SYNOPSIS\n.B troupe\n.I command\n[options]\n"
      << ".SH DESCRIPTION\n"
      << "Starts and inspects tasks of a cluster, and runs, trains and describes graphs.\n"
      << "It exits with 0 on success, 1 if a command fails, and 2 for wrong usage or if some "
         "tasks\n"
         "of a cluster could not be queried.\n"
      << ".SH OPTIONS\n";
  write_options(app, out);
  out << ".SH COMMANDS\n";
  for (const auto* command : subcommands_of(app))
    write_command(*command, "troupe " + command->get_name(), out);
  out << ".SH SEE ALSO\nThe guides that this page names as docs/*.md are installed in\n"
      << ".IR share/doc/troupe/docs .\n";
}

void write_cases(const CLI::App& command, const std::string& path, std::ostream& out) {
  out << "    '" << path << "')\n      commands='";
  std::string_view separator;
  for (const auto* subcommand : subcommands_of(command)) {
    out << separator << subcommand->get_name();
    separator = " ";
  }
  out << "'\n      options='";
  separator = {};
  for (const auto* option : command.get_options())
    for (const auto& name : option_names(*option)) {
      out << separator << name;
      separator = " ";
    }
  out << "' ;;\n";
  for (const auto* subcommand : subcommands_of(command))
    write_cases(*subcommand,
                path.empty() ? subcommand->get_name() : path + ' ' + subcommand->get_name(), out);
}

// The words before the cursor select the command; the next word is a subcommand, an option or, if
// there is neither, a file.
void write_bash_completion(const CLI::App& app, std::ostream& out) {
  out << "# Completes the commands and options of `troupe`. Written by `troupe completion bash`.\n"
         "_troupe_words() {\n"
         "  case $1 in\n";
  write_cases(app, "", out);
  out << "    *) return 1 ;;\n"
         "  esac\n"
         "}\n"
         "_troupe() {\n"
         "  local commands options path= i\n"
         "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
         "    _troupe_words \"${path:+$path }${COMP_WORDS[i]}\" || continue\n"
         "    path=${path:+$path }${COMP_WORDS[i]}\n"
         "  done\n"
         "  _troupe_words \"$path\"\n"
         "  if [[ ${COMP_WORDS[COMP_CWORD]} == -* ]]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"${COMP_WORDS[COMP_CWORD]}\")\n"
         "  else\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$commands\" -- \"${COMP_WORDS[COMP_CWORD]}\")\n"
         "  fi\n"
         "}\n"
         "complete -o default -F _troupe troupe\n";
}

} // namespace

std::string guides_footer() {
  namespace fs = std::filesystem;
  std::error_code failed;
  auto program = fs::read_symlink("/proc/self/exe", failed);
  if (failed)
    return {};
  auto guides = (program.parent_path() / TROUPE_GUIDES_FROM_PROGRAM).lexically_normal();
  return fs::is_directory(guides / "docs", failed)
             ? "The guides docs/*.md are in " + (guides / "docs").string()
             : std::string{};
}

void add_manual(CLI::App& app) {
  app.add_subcommand("manual", "Print the manual page, in troff")->callback([&app] {
    write_manual(app, std::cout);
  });
  auto* completion = app.add_subcommand(
      "completion", "Print a script that completes commands and options in a shell");
  completion->require_subcommand(1);
  completion->add_subcommand("bash", "For bash: source <(troupe completion bash)")
      ->callback([&app] { write_bash_completion(app, std::cout); });
}

} // namespace troupe::cli
