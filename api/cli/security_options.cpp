#include "troupe/api/cli/security_options.hpp"

#include <CLI/CLI.hpp>

namespace troupe::cli {

void add_security(CLI::App& command, security_options& to) {
  auto* certificate =
      command.add_option("--tls-cert", to.tls.certificate,
                         "File with the certificate that is shown to others (troupe certs)");
  auto* key = command.add_option("--tls-key", to.tls.key, "File with its private key");
  auto* authority = command.add_option("--tls-ca", to.tls.authority,
                                       "File with the certificate that signs those of the cluster");
  auto* token =
      command.add_option("--token", to.tls.token,
                         "File with a token, of a client without a certificate, or beside it");
  certificate->needs(key)->needs(authority);
  key->needs(certificate);
  token->needs(authority);
  command.add_flag("--insecure", to.insecure,
                   "Allow other machines without encryption: all who reach a task control it");
}

} // namespace troupe::cli
