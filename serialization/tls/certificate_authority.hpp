// A private authority: makes certificates for the processes of a cluster.
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

/// From when until when a certificate is valid.
struct validity {
  std::chrono::system_clock::time_point begin, end;
  /// From some minutes ago, as clocks differ, so many days on.
  static validity of_days(int days);
};

class certificate_authority {
public:
  static result<certificate_authority> make(const validity& when);
  /// Fails where that is no certificate of an authority in PEM, or the key is not its own.
  static result<certificate_authority> read(const certified_key& from);
  certificate_authority(certificate_authority&&) noexcept;
  certificate_authority& operator=(certificate_authority&&) noexcept;
  ~certificate_authority();

  const certified_key& pem() const noexcept;
  /// Makes a certificate for these names. One with a task's may be shown by both ends of a
  /// connection, one of a client by the end that calls.
  result<certified_key> issue(const std::vector<certificate_name>& names,
                              const validity& when) const;

private:
  struct state;
  explicit certificate_authority(std::unique_ptr<state> made);
  std::unique_ptr<state> state_;
};

} // namespace troupe
