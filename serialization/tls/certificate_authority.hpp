// A private certificate authority for the processes of a cluster.
#pragma once
#include "troupe/serialization/tls/certificate_name.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// A certificate and its private key, both as PEM. Keys are of the curve P-256.
struct certified_key {
  std::string certificate, key;
};

/// The period for which a certificate is valid.
struct validity {
  std::chrono::system_clock::time_point begin, end;
  /// From some minutes ago, because clocks differ, for `days` days.
  static validity for_days(int days);
};

class certificate_authority {
public:
  static result<certificate_authority> make(const validity& period);
  /// Fails if `pem` has no certificate of an authority, or if the key is not that of the
  /// certificate.
  static result<certificate_authority> read(const certified_key& pem);
  certificate_authority(certificate_authority&&) noexcept;
  certificate_authority& operator=(certificate_authority&&) noexcept;
  ~certificate_authority();

  const certified_key& pem() const noexcept;
  /// Makes a certificate for these names. A certificate with a task's name works at both ends of a
  /// connection, one of a client only at the connecting end.
  result<certified_key> issue(const std::vector<certificate_name>& names,
                              const validity& period) const;

private:
  struct state;
  explicit certificate_authority(std::unique_ptr<state> initial_state);
  std::unique_ptr<state> state_;
};

} // namespace troupe
