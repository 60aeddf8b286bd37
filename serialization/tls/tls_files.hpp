// Which files say who a process is, and who is believed.
#pragma once
#include <string>

namespace troupe {

/// PEM files for connections over TLS 1.3, where both ends show a certificate; a client may show a
/// token instead. They are read again when they have changed: connections made from then on use
/// what is new. docs/security.md says how they are made.
struct tls_files {
  std::string certificate = {}; ///< of this process, then those between it and the authority
  std::string key = {};         ///< its private key, without a passphrase
  std::string authority = {};   ///< certificates of who signs for the processes of the cluster
  /// A secret that tasks' access lists know: of a client, in the place of a certificate or beside
  /// it. No PEM.
  std::string token = {};

  bool none() const noexcept {
    return certificate.empty() && key.empty() && authority.empty() && token.empty();
  }
};

} // namespace troupe
