// Which clients may do what at a task, and how much of it.
#pragma once
#include "troupe/runtime/types/status.hpp"
#include "troupe/serialization/tls/certificate_name.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace troupe {

/// What a client may do beside asking what there is.
struct access_rights {
  bool registers = false; ///< graphs: whose ops can do what the task's user can
  bool runs = false;      ///< steps of graphs that were registered
  bool resets = false;    ///< containers, of all clients
  bool drains = false;    ///< the task: it takes nothing new, and ends
  /// At once, over all connections of a client to a task; 0: as much as there may be anyway.
  size_t connections = 0, programs = 0, steps = 0;
  size_t sessions = 0; ///< that the task hosts; its programs and steps are counted as such
  uint64_t bytes = 0;  ///< of payloads that are on their way to the task, by one connection
  bool operator==(const access_rights&) const = default;
};

/// A client, as the list knows it.
struct known_client {
  std::string name; ///< that of its certificate or token
  access_rights rights;
};

class access_list {
public:
  /// Reads JSON such as
  ///
  ///     {"clients": {"alice": {"may": ["register", "run", "reset", "drain"]},
  ///                  "*": {"may": ["run"], "connections": 2, "steps": 10}},
  ///      "tokens": {"ci": {"sha256": "9f86…", "may": ["register", "run"], "bytes": 1000000}}}
  ///
  /// where "*" is for clients with a certificate that are not named. Errors name the key; `origin`
  /// is the file's name, for them.
  static result<access_list> parse(std::string_view json, std::string_view origin = "access list");

  /// Nothing for those who are not let in.
  const access_rights* of_client(const std::string& name) const;
  /// By the digest of its token, as 64 small hexadecimal digits.
  const known_client* of_token(const std::string& digest) const;
  bool has_tokens() const noexcept { return !tokens_.empty(); }

private:
  std::map<std::string, access_rights> clients_;
  std::map<std::string, known_client> tokens_; // by digest
};

} // namespace troupe
