// The messages that a program needs in each step.
#pragma once
#include "troupe/runtime/insight/message_counts.hpp"
#include "troupe/runtime/program/program.hpp"

namespace troupe {

/// Returns the messages of each step that succeeds: a region runs when its last required token has
/// arrived, and each region, wait and fetch occurs once in a step. `sends` and `step_ends` are 0,
/// because they depend on the other programs of the task.
message_counts required_messages(const program& compiled) noexcept;

} // namespace troupe
