// The access list of a task: the rights and limits of its clients.
#pragma once
#include "troupe/runtime/types/status.hpp"
#include "troupe/serialization/tls/certificate_name.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace troupe {

/// The rights and limits of a client. Inspecting the task needs no right.
struct access_rights {
  bool may_register = false; ///< graphs, whose ops run with the rights of the task's user
  bool may_run = false;      ///< steps of registered graphs
  bool may_reset = false;    ///< containers, also those of other clients
  bool may_drain = false;    ///< the task: it accepts no new work, and ends
  /// Concurrent, over all connections of a client to a task; 0: no limit but that of the task.
  size_t connections = 0, programs = 0, steps = 0;
  size_t sessions = 0; ///< hosted by the task; their programs and steps count as the client's
  uint64_t bytes = 0;  ///< of payloads in flight to the task, for each connection
  bool operator==(const access_rights&) const = default;
};

/// A client of the access list.
struct known_client {
  std::string name; ///< of its certificate or token
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

  /// The rights of the client with this certificate name; null if it has no access.
  const access_rights* rights_of_client(const std::string& name) const;
  /// The client with this token digest (64 lower-case hexadecimal digits); null if there is none.
  const known_client* client_of_token(const std::string& digest) const;
  bool has_tokens() const noexcept { return !tokens_.empty(); }

private:
  std::map<std::string, access_rights> clients_;
  std::map<std::string, known_client> tokens_; // by digest
};

} // namespace troupe
