// The settings of a session that a task hosts, and what its answers tell of tasks, as they stand in
// a message.
#pragma once
#include "troupe/serialization/wire/hosted_session.hpp"
#include "troupe/serialization/wire/wire.capnp.h"

namespace troupe {

void write_settings(wire::SessionOpen::Builder to, const session_open& what);
/// Fails with data_loss for values that there are not.
result<session_open> read_settings(wire::SessionOpen::Reader in);

/// What the session has on tasks, what of it is lost, and which of them are being filled.
void write_tasks(wire::SessionReply::Builder to, const session_reply& what);
status read_tasks(wire::SessionReply::Reader in, session_reply& to);

/// Fails with data_loss for a number that stands for no stage.
result<fill_stage> read_stage(uint8_t from);

} // namespace troupe
