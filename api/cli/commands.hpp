// The subcommands of `troupe`. Each adds itself to the parser, and runs when it was selected.
#pragma once
#include <string>

namespace CLI {
class App;
}

namespace troupe::cli {

void add_worker(CLI::App& app);
void add_certs(CLI::App& app);
/// Sets the exit code to some_missing if a task could not be queried. So do the other commands with
/// an exit code.
void add_devices(CLI::App& app, int& exit_code);
void add_ops(CLI::App& app);
void add_state(CLI::App& app, int& exit_code);
void add_top(CLI::App& app, int& exit_code);
void add_waits(CLI::App& app, int& exit_code);
void add_drain(CLI::App& app);
void add_events(CLI::App& app);
void add_train(CLI::App& app);
/// Sets the exit code to 1 if two checkpoints differ.
void add_checkpoint(CLI::App& app, int& exit_code);
/// Sets the exit code to 1 if a run does not have the results that the file expects.
void add_run(CLI::App& app, int& exit_code);

/// Adds the commands that describe the others: `manual` and `completion`.
void add_manual(CLI::App& app);
/// Returns the line of --help with the folder of the guides; empty if they are not installed.
std::string guides_footer();

} // namespace troupe::cli
