// The files of a process's TLS identity, and of the authority that it trusts.
#pragma once
#include <string>

namespace troupe {

/// PEM files for connections over TLS 1.3, where both ends show a certificate; a client may show a
/// token instead. Changed files are read again, and used by new connections. docs/security.md
/// describes how to make them.
struct tls_files {
  std::string certificate = {}; ///< of this process, followed by intermediate certificates
  std::string key = {};         ///< the private key, without a passphrase
  std::string authority = {};   ///< certificates of the authority of the cluster's processes
  /// A client's secret in the access lists of tasks, instead of a certificate or in addition to
  /// one. Not in PEM.
  std::string token = {};

  bool empty() const noexcept {
    return certificate.empty() && key.empty() && authority.empty() && token.empty();
  }
};

} // namespace troupe
