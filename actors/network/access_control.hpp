// Who of those that have proven who they are may do what at a task.
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
  /// Reads an access list (serialization/config/access.hpp); again when a connection is made and it
  /// has changed. What cannot be read then is told, and what was read before serves on.
  static result<std::shared_ptr<access_control>>
  load(std::string path, std::function<void(const std::string&)> on_warning);
  virtual ~access_control() = default;

  /// Whether peers without a certificate are to be let in, to show a token.
  virtual bool takes_tokens() = 0;
  /// Says why a peer that shows no certificate, but has introduced itself, is not let in.
  virtual status check_token(const hello& who) = 0;
  /// The account of a client that has introduced itself, with one connection more. Nothing for a
  /// task, which may do all. Fails with failed_precondition for those that may not come in, with
  /// resource_exhausted for one connection too many.
  virtual result<std::shared_ptr<peer_account>>
  admit(const hello& who, const std::vector<certificate_name>& proven) = 0;
};

/// Says why a peer with such a certificate is not who it says: who calls may say of itself what
/// that names. A task's program may have a session.
status check_claim(const hello& who, const std::vector<certificate_name>& proven,
                   const std::string& cluster);
/// Says why it may not say that of the cluster's tasks: tasks do, of their own job where they ask
/// for a number.
status may_say(const std::vector<certificate_name>& proven, const message& what,
               const std::string& cluster);
/// Says why a client may not ask that task for that.
status may_ask(const peer_account& who, const message& what, const task_name& of);
/// What answers a request that was not allowed; nothing where none is waited for.
std::optional<message> answer_of_refused(const message& what, status why);

} // namespace troupe
