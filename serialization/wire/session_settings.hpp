// The encoding of the settings of a hosted session, and of the parts of its answers that concern
// tasks.
#pragma once
#include "troupe/serialization/wire/hosted_session.hpp"
#include "troupe/serialization/wire/wire.capnp.h"

namespace troupe {

void write_settings(wire::SessionOpen::Builder to, const session_open& settings);
/// Fails with data_loss for invalid values.
result<session_open> read_settings(wire::SessionOpen::Reader in);

/// The tasks with state of the session, the lost state, and the tasks in initialization.
void write_tasks(wire::SessionReply::Builder to, const session_reply& source);
status read_tasks(wire::SessionReply::Reader in, session_reply& to);

/// Fails with data_loss for a number that is not a stage.
result<initialization_stage> read_stage(uint8_t from);

} // namespace troupe
