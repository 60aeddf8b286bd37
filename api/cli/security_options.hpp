// Options of all subcommands that speak to other processes.
#pragma once
#include "troupe/serialization/tls/tls_files.hpp"

namespace CLI {
class App;
}

namespace troupe::cli {

/// What --cluster takes in all subcommands.
inline constexpr auto cluster_help =
    "Where the tasks are (docs/clusters.md): a file with the addresses of all, such text itself, "
    "or file:PATH, join:HOST:PORT, dns:..., slurm:..., kubernetes:..., etcd:...";
/// The same where a session of a task will do.
inline constexpr auto session_help =
    "Where the tasks are (docs/clusters.md): a file with the addresses of all, such text itself, "
    "or file:PATH, join:HOST:PORT, dns:..., slurm:..., kubernetes:..., etcd:..., "
    "master:HOST:PORT";

struct security_options {
  tls_files tls = {};
  bool insecure = false;
};

/// Adds --tls-cert, --tls-key, --tls-ca and --insecure; `to` has to live as long as the parser.
void add_security(CLI::App& command, security_options& to);

} // namespace troupe::cli
