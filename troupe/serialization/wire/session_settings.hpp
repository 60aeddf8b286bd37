// The settings of a session that a task hosts, as they stand in a message.
#pragma once
#include "troupe/serialization/wire/hosted_session.hpp"
#include "troupe/serialization/wire/wire.capnp.h"

namespace troupe {

void write_settings(wire::SessionOpen::Builder to, const session_open& what);
/// Fails with data_loss for values that there are not.
result<session_open> read_settings(wire::SessionOpen::Reader in);

} // namespace troupe
