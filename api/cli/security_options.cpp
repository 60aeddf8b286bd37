#include "troupe/api/cli/security_options.hpp"
// Options for TLS and tokens.

#include <CLI/CLI.hpp>

namespace troupe::cli {

void add_security(CLI::App& command, security_options& options) {
  auto* certificate =
      command.add_option("--tls-cert", options.tls.certificate,
                         "File with the certificate of this process (troupe certs)");
  auto* key = command.add_option("--tls-key", options.tls.key, "File with its private key");
  auto* authority = command.add_option("--tls-ca", options.tls.authority,
                                       "File with the certificate of the cluster's authority");
  auto* token = command.add_option(
      "--token", options.tls.token,
      "File with the token of a client, instead of a certificate or in addition to it");
  certificate->needs(key)->needs(authority);
  key->needs(certificate);
  token->needs(authority);
  command.add_flag(
      "--insecure", options.insecure,
      "Allow other machines without encryption: every process that reaches a task controls it");
}

} // namespace troupe::cli
