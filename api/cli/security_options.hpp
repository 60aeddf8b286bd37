// Options of all subcommands that connect to other processes.
#pragma once
#include "troupe/serialization/tls/tls_files.hpp"

namespace CLI {
class App;
}

namespace troupe::cli {

/// Help text of --cluster in all subcommands.
inline constexpr auto cluster_help =
    "The tasks (docs/clusters.md): a file with their addresses, the text of such a file, "
    "or file:PATH, join:HOST:PORT, dns:..., slurm:..., kubernetes:..., etcd:...";
/// Help text of --cluster in subcommands that can use a session hosted by a task.
inline constexpr auto session_help =
    "The tasks (docs/clusters.md): a file with their addresses, the text of such a file, "
    "or file:PATH, join:HOST:PORT, dns:..., slurm:..., kubernetes:..., etcd:..., "
    "master:HOST:PORT";

struct security_options {
  tls_files tls = {};
  bool insecure = false;
};

/// Adds --tls-cert, --tls-key, --tls-ca and --insecure. `options` must outlive the parser.
void add_security(CLI::App& command, security_options& options);

} // namespace troupe::cli
