#include "troupe/api/cli/command_line.hpp"
// The parser of the `troupe` command.

#include "troupe/api/cli/commands.hpp"
#include "troupe/api/cli/safe_output.hpp"
#include "troupe/api/cli/wrong_usage.hpp"
#include "troupe/api/error.hpp"
#include "troupe/runtime/version.hpp"
#include "troupe/serialization/storage/checksum.hpp"
#include "troupe/serialization/wire/build_identity.hpp"

#include <CLI/CLI.hpp>

#include <iostream>

namespace troupe::cli {
namespace {

constexpr int failed = 1, wrong_usage = 2;

// Joins the lines of an error, so that each error is one line for line-oriented readers. Indented
// lines with details stay separate.
std::string one_line(std::string text) {
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n' && text.compare(i + 1, 2, "  ") != 0)
      text[i] = ' ';
  return text;
}

int run(int argc, char** argv) {
  CLI::App app{"Troupe: a dataflow runtime for machine learning", "troupe"};
  app.require_subcommand(1);
  app.footer(guides_footer());
  app.set_version_flag("--version", std::string{library_version});
  int exit_code = 0;
  add_worker(app);
  add_certs(app);
  add_devices(app, exit_code);
  add_ops(app);
  add_state(app, exit_code);
  add_top(app, exit_code);
  add_waits(app, exit_code);
  add_drain(app);
  add_events(app);
  add_train(app);
  add_checkpoint(app, exit_code);
  add_run(app, exit_code);
  add_manual(app);
  auto* version = app.add_subcommand("version", "Print the version");
  bool with_build = false;
  version->add_flag("--build", with_build,
                    "Also the commit it was built from, and the hash of the schema of messages, "
                    "which processes compare when they connect");
  version->callback([&] {
    std::cout << "troupe " << library_version;
    if (with_build)
      std::cout << ", build " << build_commit() << ", message schema "
                << to_hex(wire_schema_hash());
    std::cout << '\n';
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) { // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& problem) {
    std::cerr << one_line(explain_wrong_usage(app, {argv + 1, argv + argc}, problem)) << '\n';
    return wrong_usage;
  }
  return exit_code;
}

} // namespace

int run_command_line(int argc, char** argv) {
  safe_output safe_stdout{std::cout}, safe_stderr{std::cerr};
  try {
    return run(argc, argv);
  } catch (const error& cause) {
    std::cerr << "troupe: " << to_string(cause.kind()) << ": " << one_line(cause.what()) << '\n';
  } catch (const std::exception& cause) {
    std::cerr << "troupe: " << one_line(cause.what()) << '\n';
  }
  return failed;
}

} // namespace troupe::cli
