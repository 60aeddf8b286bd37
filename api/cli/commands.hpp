// The subcommands of `troupe`. Each adds itself to the parser; what it does runs when it was
// chosen.
#pragma once
#include <string>

namespace CLI {
class App;
}

namespace troupe::cli {

void add_worker(CLI::App& to);
void add_certs(CLI::App& to);
/// Sets the exit code to some_missing when a task could not be asked. So do the others with one.
void add_devices(CLI::App& to, int& exit_code);
void add_ops(CLI::App& to);
void add_state(CLI::App& to, int& exit_code);
void add_top(CLI::App& to, int& exit_code);
void add_waits(CLI::App& to, int& exit_code);
void add_drain(CLI::App& to);
void add_events(CLI::App& to);
void add_train(CLI::App& to);
/// Sets the exit code to 1 when two checkpoints differ.
void add_checkpoint(CLI::App& to, int& exit_code);
/// Sets the exit code to 1 when a run is not what the file promises.
void add_run(CLI::App& to, int& exit_code);

/// Those that describe the others: `manual` and `completion`.
void add_manual(CLI::App& to);
/// The line of --help that says where the guides are; empty where they are not installed.
std::string guides_footer();

} // namespace troupe::cli
