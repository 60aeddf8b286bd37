// Decides the rights of peers that have proven their identity.
#pragma once
#include "troupe/serialization/tls/certificate_name.hpp"
#include "troupe/serialization/wire/messages.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

struct peer_account;

/// Any thread may call.
class access_control {
public:
  /// Reads an access list (serialization/config/access.hpp), and again at a new connection if the
  /// file has changed. If it cannot be read then, warns and keeps the previous list.
  static result<std::shared_ptr<access_control>>
  load(std::string path, std::function<void(const std::string&)> on_warning);
  virtual ~access_control() = default;

  /// Returns whether peers without a certificate may connect, to show a token.
  virtual bool accepts_tokens() = 0;
  /// Checks the token in the hello of a peer that shows no certificate.
  virtual status check_token(const hello& peer) = 0;
  /// Returns the account of a client that has sent its hello, with one connection more; null for a
  /// task, which has all rights. Fails with failed_precondition if the client may not connect, with
  /// resource_exhausted if it has too many connections.
  virtual result<std::shared_ptr<peer_account>>
  admit(const hello& peer, const std::vector<certificate_name>& proven) = 0;
};

/// Fails if a hello claims a task that the peer's certificate does not name. A peer that is not a
/// task may claim anything: the program of a task may have a session, too.
status check_claim(const hello& peer, const std::vector<certificate_name>& proven,
                   const std::string& cluster);
/// Fails if the peer may not send that message about the members of the cluster: only tasks may,
/// and they may request numbers of their own job only.
status check_cluster_message(const std::vector<certificate_name>& proven, const message& sent,
                             const std::string& cluster);
/// Fails if a client lacks the right for that request to a task.
status check_request_rights(const peer_account& client, const message& request,
                            const task_name& task);
/// Returns the answer to a request that was refused; nothing if the peer waits for none.
std::optional<message> refusal_reply(const message& request, status why);

} // namespace troupe
